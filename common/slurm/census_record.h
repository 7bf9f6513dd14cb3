// SPDX-License-Identifier: GPL-2.0-or-later
// Converts slurmctld's records of nodes and jobs to what is counted of them.
// For files that include slurm.h. Any thread may call these.
#pragma once

#include "common/slurm/census.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// The record must have a name: that of a deleted node has none.
CountedNode counted_node_of(const node_info_t &info);

// The texts are those of the record, which must live as long.
CountedJob counted_job_of(const slurm_job_info_t &info);

} // namespace bridge
