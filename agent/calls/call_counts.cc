// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/call_counts.h"

namespace bridge {

namespace {

double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

// It lasts as long as somebody reads it.
bool is_stream(const RequestKind &kind, std::string_view path)
{
    return kind.verb == "watch" || path.contains("follow=true");
}

} // namespace

void CallCounts::ended(std::string_view method, std::string_view path,
                       long status, Time took)
{
    RequestKind kind = request_kind(method, path);
    std::lock_guard lock(mutex_);
    requests_[{kind, status == 0 ? "error" : std::to_string(status)}]++;
    if (!is_stream(kind, path))
        request_times_[kind] += took;
}

void CallCounts::count_slurm(const std::string &name, const std::string &result,
                             Time took)
{
    std::lock_guard lock(mutex_);
    slurm_[{name, result}]++;
    slurm_times_[name] += took;
}

void CallCounts::write(MetricText &text) const
{
    std::lock_guard lock(mutex_);
    text.counter("slurmk8sd_kubernetes_requests",
                 "Requests to the API server that have ended, by verb, "
                 "resource and status (error: there was no reply).");
    for (const auto &[key, count] : requests_)
        text.add(count, {{"verb", key.first.verb},
                         {"resource", key.first.resource},
                         {"code", key.second}});
    text.counter("slurmk8sd_kubernetes_request_seconds",
                 "Time in requests to the API server, without watches and logs "
                 "that are followed.");
    for (const auto &[kind, time] : request_times_)
        text.add(seconds(time),
                 {{"verb", kind.verb}, {"resource", kind.resource}});
    text.counter("slurmk8sd_slurm_requests",
                 "Calls of libslurm, each of one or more RPCs, by name and "
                 "result.");
    for (const auto &[key, count] : slurm_)
        text.add(count, {{"call", key.first}, {"result", key.second}});
    text.counter("slurmk8sd_slurm_request_seconds",
                 "Time in calls of libslurm.");
    for (const auto &[name, time] : slurm_times_)
        text.add(seconds(time), {{"call", name}});
}

} // namespace bridge
