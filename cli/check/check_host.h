// SPDX-License-Identifier: GPL-2.0-or-later
// The findings of slurmk8s check about the host. Pure functions. slurm_user is
// the user id of slurmctld, if it is known.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/host_facts.h"
#include "common/contract/conf.h"

#include <cstdint>
#include <optional>

namespace bridge {

Findings check_conf_file(const HostFacts &host,
                         std::optional<std::uint32_t> slurm_user);
// Finds what k8s.conf lets Pods do that users in Slurm may not.
Findings check_choices(const Conf &conf);
Findings check_token(const HostFacts &host,
                     std::optional<std::uint32_t> slurm_user);
Findings check_socket(const HostFacts &host,
                      std::optional<std::uint32_t> slurm_user);
Findings check_state_save(const HostFacts &host, std::uint32_t slurm_user);
Findings check_agent(const HostFacts &host);

} // namespace bridge
