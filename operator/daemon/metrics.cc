// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/metrics.h"

namespace bridge::slinky {

void Metrics::count_step(const std::string &verb, const std::string &result)
{
    std::lock_guard lock(mutex_);
    steps_[{verb, result}]++;
}

void Metrics::set_objects(const std::string &kind, std::uint64_t count)
{
    std::lock_guard lock(mutex_);
    objects_[kind] = count;
}

void Metrics::set(const State &state)
{
    std::lock_guard lock(mutex_);
    state_ = state;
}

MetricText Metrics::text(MetricFormat format) const
{
    std::lock_guard lock(mutex_);
    MetricText text(format);
    text.counter("slurmk8s_operator_steps",
                 "Requests to change something, by verb and result.");
    for (const auto &[key, count] : steps_)
        text.add(count, {{"verb", key.first}, {"result", key.second}});
    text.gauge("slurmk8s_operator_objects", "Objects that are followed.");
    for (const auto &[kind, count] : objects_)
        text.add(count, {{"kind", kind}});
    text.gauge("slurmk8s_operator_leader",
               "Whether this operator acts (1), or stands by (0).",
               std::uint64_t{state_.leads});
    text.gauge("slurmk8s_operator_failing_watches",
               "Kinds of objects that cannot be watched.",
               state_.failing_watches);
    text.gauge("slurmk8s_operator_failing_objects",
               "Objects whose last step failed, and which wait for another "
               "try.",
               state_.failing_objects);
    return text;
}

} // namespace bridge::slinky
