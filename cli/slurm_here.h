// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether libslurm can be used on this host.
#pragma once

namespace bridge {

// Returns false when there is no slurm.conf, in which case libslurm would end
// the process.
bool has_slurm_conf();

} // namespace bridge
