// SPDX-License-Identifier: GPL-2.0-or-later
// Converts slurmctld's record of a partition to our value. For files that
// include slurm.h.
#pragma once

#include "common/slurm/partition.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// conf: slurmctld's configuration, for settings that the partition does not
// have itself.
Partition partition_of(const partition_info_t &one, const slurm_conf_t &conf);

} // namespace bridge
