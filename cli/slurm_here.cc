// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/slurm_here.h"

#include <cstdlib>
#include <unistd.h>

namespace bridge {

namespace {

constexpr char default_slurm_conf[] = "/etc/slurm/slurm.conf";
constexpr char configless_slurm_conf[] = "/run/slurm/conf/slurm.conf";

} // namespace

bool has_slurm_conf()
{
    const char *path = std::getenv("SLURM_CONF");
    return std::getenv("SLURM_CONF_SERVER") ||
           access(path ? path : default_slurm_conf, R_OK) == 0 ||
           access(configless_slurm_conf, R_OK) == 0;
}

} // namespace bridge
