// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_pending_jobs.h"

#include <format>

namespace bridge {

Findings check_pending_jobs(const SlurmFacts &slurm, const Conf &conf)
{
    // The rest is for jobs that run or have ended.
    std::uint32_t room = slurm.max_jobs / 4 * 3;
    if (slurm.max_jobs == 0 ||
        (conf.max_pending_jobs != 0 && conf.max_pending_jobs <= room))
        return {};
    std::string limit =
        conf.max_pending_jobs == 0
            ? "MaxPendingJobs sets no limit"
            : std::format("MaxPendingJobs is {}", conf.max_pending_jobs);
    return {{Severity::warning, "k8s.conf",
             std::format("{}, and MaxJobCount of slurm.conf {}: waiting Pods "
                         "can fill slurmctld's table, and nobody can submit "
                         "any more",
                         limit, slurm.max_jobs),
             std::format("MaxPendingJobs={}", slurm.max_jobs / 2)}};
}

} // namespace bridge
