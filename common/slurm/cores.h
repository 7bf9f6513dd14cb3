// SPDX-License-Identifier: GPL-2.0-or-later
// The cores that a job has on its nodes. slurmctld sends them with the record
// of a job, but libslurm keeps them in a type that slurm.h does not define.
// They are read only with versions of Slurm whose type is known.
#pragma once

#include "common/slurm/job_record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Returns the cores on each node, in the order of the job's nodes: ascending
// numbers, from 0. This is what scontrol prints as CPU_IDs if a core is one
// CPU, as on external nodes. Empty if Slurm does not provide them or the
// version is not known.
std::vector<std::vector<std::uint32_t>>
cores_on_nodes(const slurm_job_info_t &info,
               const std::vector<std::string> &nodes);

} // namespace bridge
