// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/metrics.h"

#include <format>

namespace bridge::slinky {

void Metrics::count(const std::string &name)
{
    std::lock_guard lock(mutex_);
    values_[name]++;
}

void Metrics::set(const std::string &name, std::uint64_t value)
{
    std::lock_guard lock(mutex_);
    values_[name] = value;
}

std::string Metrics::text() const
{
    std::lock_guard lock(mutex_);
    std::string made;
    std::string last;
    for (const auto &[name, value] : values_) {
        std::string bare = name.substr(0, name.find('{'));
        if (bare != last)
            made += std::format("# TYPE slurmk8s_operator_{} {}\n", bare,
                                bare.ends_with("_total") ? "counter" : "gauge");
        last = bare;
        made += std::format("slurmk8s_operator_{} {}\n", name, value);
    }
    return made;
}

} // namespace bridge::slinky
