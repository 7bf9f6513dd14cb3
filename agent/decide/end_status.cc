// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/end_status.h"

#include "common/base/wait_status.h"

#include <algorithm>
#include <optional>

namespace bridge {

namespace {

// The wait status with which slurmctld marks a job OUT_OF_MEMORY (job_complete
// in Slurm's job_mgr.c).
constexpr int oom_status = 253;
constexpr int max_signal = 64;

std::string first_failure(const Pod &pod, End &end)
{
    for (const ContainerEnd &container : pod.containers) {
        if (!container.terminated ||
            (container.exit_code == 0 && container.signal == 0))
            continue;
        if (container.reason == "OOMKilled")
            end.status = oom_status;
        else if (container.signal > 0 && container.signal <= max_signal)
            end.status = container.signal;
        else
            end.status = std::clamp(container.exit_code, 1, 255) << 8;
        return container.reason;
    }
    end.status = exit_1; // evicted, or rejected by its kubelet
    return {};
}

// A script may go on and exit with 0 after one of its processes was killed for
// its memory. slurmstepd marks such a job out of memory (oom_error in its
// mgr.c).
bool ran_out_of_memory(const Gang &gang, const Pod &pod)
{
    return gang.batch && pod.terminal() &&
           std::ranges::any_of(pod.containers, [](const ContainerEnd &end) {
               return end.terminated && end.reason == "OOMKilled";
           });
}

// The exit codes do not count: the containers were stopped from outside.
std::optional<End> disrupted_end(const Pod &pod)
{
    if (!pod.deleting || pod.disruption.empty())
        return std::nullopt;
    return End{exit_1, pod.disruption};
}

} // namespace

End end_of(const Gang &gang)
{
    for (const PodPtr &pod : gang.pods) {
        if (auto end = disrupted_end(*pod))
            return *end;
        if (ran_out_of_memory(gang, *pod))
            return {oom_status, "OOMKilled"};
        if (pod->phase != "Failed")
            continue;
        End end;
        std::string container_reason = first_failure(*pod, end);
        end.reason = pod->reason.empty() ? container_reason : pod->reason;
        if (end.reason == "Error") // adds nothing to the exit code
            end.reason.clear();
        if (!end.reason.empty() && !pod->message.empty())
            end.reason += ": " + pod->message;
        return end;
    }
    return {};
}

} // namespace bridge
