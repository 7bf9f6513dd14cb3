// SPDX-License-Identifier: GPL-2.0-or-later
// The findings of slurmk8s check about the host. Pure functions. The SlurmUser
// is that of slurmctld, as whom slurmk8sd has to run; nothing if it is not
// known.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/host_facts.h"
#include "common/contract/conf.h"
#include "common/contract/unit_user.h"

#include <optional>

namespace bridge {

// What makes a token for the agent where it belongs, with the right owner and
// mode; a shell's ">" would not.
inline constexpr char make_token_command[] =
    "slurmk8s setup --kubeconfig FILE, with an administrator's kubeconfig";

Findings check_conf_file(const HostFacts &host,
                         const std::optional<SlurmUser> &slurm_user);
// Finds what k8s.conf lets Pods do that users in Slurm may not.
Findings check_choices(const Conf &conf);
Findings check_token(const HostFacts &host,
                     const std::optional<SlurmUser> &slurm_user);
Findings check_socket(const HostFacts &host,
                      const std::optional<SlurmUser> &slurm_user);
Findings check_state_save(const HostFacts &host, const SlurmUser &slurm_user);
// All of what follows from owners and modes: the above, but for
// check_choices(). In a Pod only a note that they are not checked.
Findings check_files(const HostFacts &host,
                     const std::optional<SlurmUser> &slurm_user);
Findings check_agent(const HostFacts &host);

} // namespace bridge
