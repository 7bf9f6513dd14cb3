// SPDX-License-Identifier: GPL-2.0-or-later
// The hosts and the user of slurmctld, as libslurm knows them.
#pragma once

#include "common/base/result.h"
#include "common/contract/controllers.h"
#include "common/contract/unit_user.h"

namespace bridge {

// Reads slurm.conf as libslurm has loaded it. Code::internal if libslurm does
// not provide the hosts: no agent may then assume that it is the only one.
Result<Controllers> load_controllers();

// Returns SlurmUser of the slurm.conf that libslurm has loaded. Code::internal
// if libslurm does not provide it.
Result<SlurmUser> load_slurm_user();

} // namespace bridge
