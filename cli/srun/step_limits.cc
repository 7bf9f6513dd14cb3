// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_limits.h"

#include <algorithm>
#include <sys/resource.h>

namespace bridge {

namespace {

// The limits of slurm_rlimits_info.c.
constexpr decltype(RLIMIT_CPU) propagated[] = {
    RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA,   RLIMIT_STACK,   RLIMIT_CORE,
    RLIMIT_RSS, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS};

} // namespace

std::vector<std::uint64_t> soft_limits()
{
    std::vector<std::uint64_t> limits;
    for (auto resource : propagated) {
        rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
        getrlimit(resource, &limit);
        limits.push_back(limit.rlim_cur);
    }
    return limits;
}

void set_soft_limits(const std::vector<std::uint64_t> &limits)
{
    std::size_t count = std::min(limits.size(), std::size(propagated));
    for (std::size_t i = 0; i < count; i++) {
        rlimit limit;
        if (getrlimit(propagated[i], &limit) != 0)
            continue;
        limit.rlim_cur = std::min<rlim_t>(limits[i], limit.rlim_max);
        setrlimit(propagated[i], &limit);
    }
}

void raise_open_files()
{
    rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace bridge
