// SPDX-License-Identifier: GPL-2.0-or-later
// As whom slurmk8sd has to run, for messages of the agent and of slurmk8s.
// Pure.
#pragma once

#include <cstdint>
#include <string>

namespace bridge {

struct SlurmUser {
    std::uint32_t id = 0;
    std::string name;
};

// Returns the commands by which systemd runs slurmk8sd as this user: a file
// that takes the place of User= and Group= in the unit.
std::string run_as_command(const std::string &user);

// Returns why an agent of this user must not serve; empty: it may. Only
// SlurmUser gets through to slurmctld with what the agent does, and only a
// socket of that user is one that the plugins speak to.
std::string wrong_user_reason(std::uint32_t id, const std::string &name,
                              const SlurmUser &slurm_user);

} // namespace bridge
