// SPDX-License-Identifier: GPL-2.0-or-later
// Whether Slurm gives away more of a node of both slurmd and kubelet than the
// kubelet has for it. Its own reserve, and the Pods that are not Slurm's, are
// kept for it by CoreSpecCount and MemSpecLimit, which an administrator sets.
// Pure.
#pragma once

#include "common/slurm/api.h"

#include <string>

namespace bridge {

// What an administrator has to mend, "" when Slurm's figures fit. room: what
// the kubelet can allocate, less what Pods that are not Slurm's ask for; of
// which nothing at all means that the kubelet has not said.
std::string why_too_large(const SlurmNode &node, std::uint32_t room_cpus,
                          MebiBytes room_memory);

} // namespace bridge
