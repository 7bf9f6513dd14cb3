// SPDX-License-Identifier: GPL-2.0-or-later
// What our plugins need to know of a job, read from the environment that
// slurmctld makes of it for prolog and epilog scripts. Pure.
#pragma once

#include "common/contract/job_ref.h"

#include <cstdint>
#include <string>

namespace bridge {

struct JobFacts {
    JobRef job;
    std::string hostlist;   // allocated nodes, "" when it has none
    bool ours = false;      // carries our mark: a placeholder of Pods
    bool batch = false;     // likewise, and sbatch asked for it
    std::uint32_t cpus = 0; // on its only node; 0 with several nodes
};

// From NAME=value entries, the last of them null. Whatever is not there stays
// at its default.
JobFacts facts_from(const char *const *environment);

} // namespace bridge
