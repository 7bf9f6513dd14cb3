// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/ctl_conf.h"

#include "common/slurm/error.h"

#include <cerrno>

namespace bridge {

Result<SlurmConf> load_ctl_conf()
{
    slurm_conf_t *raw = nullptr;
    if (slurm_load_ctl_conf(0, &raw) != SLURM_SUCCESS)
        return fail_slurm(errno, "ask slurmctld for its configuration");
    return SlurmConf(raw);
}

} // namespace bridge
