// SPDX-License-Identifier: GPL-2.0-or-later
// Whether libslurm can be asked on this host.
#pragma once

namespace bridge {

// False: there is no slurm.conf, and libslurm would end the process for it.
bool has_slurm_conf();

} // namespace bridge
