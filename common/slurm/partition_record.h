// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's record of a partition as our value. For the files that include
// slurm.h.
#pragma once

#include "common/slurm/partition.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// conf: slurmctld's, for what the partition does not say itself.
Partition partition_of(const partition_info_t &one, const slurm_conf_t &conf);

} // namespace bridge
