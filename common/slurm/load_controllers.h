// SPDX-License-Identifier: GPL-2.0-or-later
// The hosts of slurmctld, as libslurm knows them.
#pragma once

#include "common/base/result.h"
#include "common/contract/controllers.h"

namespace bridge {

// Reads slurm.conf as libslurm has loaded it. Code::internal if libslurm does
// not provide the hosts: no agent may then assume that it is the only one.
Result<Controllers> load_controllers();

} // namespace bridge
