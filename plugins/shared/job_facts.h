// SPDX-License-Identifier: GPL-2.0-or-later
// What our plugins need to know about a job. Also read from the environment
// that slurmctld makes for prolog and epilog scripts; packed_job.h has the
// better way. Pure.
#pragma once

#include "common/contract/job_ref.h"

#include <cstdint>
#include <string>

namespace bridge {

struct JobFacts {
    JobRef job;
    std::string hostlist;   // allocated nodes; "" if it has none
    bool ours = false;      // has our mark: a placeholder job
    bool batch = false;     // also ours, and submitted with sbatch
    std::uint32_t cpus = 0; // on its only node; 0 if it has several nodes
};

// environment: NAME=value entries, ended by a null pointer. Missing entries
// leave the default values.
JobFacts facts_from(const char *const *environment);

} // namespace bridge
