// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's configuration. For files that include slurm.h.
#pragma once

#include "common/base/result.h"
#include "common/slurm/strings.h"

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

using SlurmConf = SlurmPtr<slurm_conf_t, slurm_free_conf>;

// Asks slurmctld, by one RPC; never returns null. The errors are those of
// fail_slurm().
Result<SlurmConf> load_ctl_conf();

} // namespace bridge
