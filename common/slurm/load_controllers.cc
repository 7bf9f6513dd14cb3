// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/load_controllers.h"

#include <slurm/slurm.h>

// libslurm's copy of slurm.conf. Its type is public, its declaration is not.
extern "C" [[gnu::weak]] slurm_conf_t slurm_conf;

namespace bridge {

Result<Controllers> load_controllers()
{
    if (!&slurm_conf || slurm_conf.control_cnt == 0)
        return fail(Code::internal,
                    "libslurm does not tell on which hosts slurmctld runs");
    Controllers controllers;
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt; i++)
        if (slurm_conf.control_machine[i])
            controllers.hosts.emplace_back(slurm_conf.control_machine[i]);
    if (slurm_conf.state_save_location)
        controllers.state_save_location = slurm_conf.state_save_location;
    return controllers;
}

Result<SlurmUser> load_slurm_user()
{
    if (!&slurm_conf || !slurm_conf.slurm_user_name)
        return fail(Code::internal, "libslurm does not tell who SlurmUser is");
    return SlurmUser{slurm_conf.slurm_user_id, slurm_conf.slurm_user_name};
}

} // namespace bridge
