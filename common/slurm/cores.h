// SPDX-License-Identifier: GPL-2.0-or-later
// Which cores a job has on its nodes. slurmctld sends that with the record of a
// job, and libslurm keeps it in a type which slurm.h does not explain: it is
// read for the versions of Slurm of which it is known how, and nowhere else.
#pragma once

#include "common/slurm/job_record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// By node, in the order of the job's, from 0, in ascending order: what scontrol
// prints as CPU_IDs where a core is one CPU, as on external nodes. Empty: Slurm
// does not tell, or not in a way that is understood.
std::vector<std::vector<std::uint32_t>>
cores_on_nodes(const slurm_job_info_t &info,
               const std::vector<std::string> &nodes);

} // namespace bridge
