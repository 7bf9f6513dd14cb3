// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/unit_user.h"

#include <format>

namespace bridge {

// An empty Group= is the user's own. Neither backslash nor double quote, which
// would be escaped in the log.
std::string run_as_command(const std::string &user)
{
    constexpr char directory[] = "/etc/systemd/system/slurmk8sd.service.d";
    return std::format("mkdir -p {0}; (echo '[Service]'; echo User={1}; echo "
                       "Group=) > {0}/user.conf; systemctl daemon-reload; "
                       "systemctl restart slurmk8sd",
                       directory, user);
}

std::string wrong_user_reason(std::uint32_t id, const std::string &name,
                              const SlurmUser &slurm_user)
{
    if (id == slurm_user.id)
        return {};
    return std::format(
        "it runs as {}, and must run as SlurmUser, which slurm.conf says is "
        "{}: set User={} in slurmk8sd.service ({})",
        name, slurm_user.name, slurm_user.name,
        run_as_command(slurm_user.name));
}

} // namespace bridge
