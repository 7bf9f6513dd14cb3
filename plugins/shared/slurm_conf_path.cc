// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/slurm_conf_path.h"

#include "common/contract/names.h"

#include <cstdlib>
#include <filesystem>

namespace bridge {

std::string k8s_conf_path()
{
    const char *slurm_conf_file =
        &slurm_conf ? slurm_conf.slurm_conf : std::getenv("SLURM_CONF");
    if (!slurm_conf_file)
        return names::default_conf_path;
    return std::filesystem::path(slurm_conf_file)
        .replace_filename(names::conf_file);
}

} // namespace bridge
