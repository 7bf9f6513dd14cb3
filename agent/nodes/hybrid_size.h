// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether Slurm may allocate more of a hybrid node than its kubelet has
// for Slurm's jobs. CoreSpecCount and MemSpecLimit, which an administrator
// sets, must keep Slurm off what the kubelet reserves and what Pods of other
// schedulers request. Pure.
#pragma once

#include "common/slurm/api.h"

#include <string>
#include <string_view>

namespace bridge {

// Every reason of too_large_node_reason() contains this text.
inline constexpr std::string_view too_large_node_text = "Slurm may allocate";

// Returns what an administrator must change, or "" if Slurm's figures fit.
// room: what the kubelet can allocate, minus the requests of Pods that are not
// Slurm's; both 0 means that the kubelet has not reported its size yet.
std::string too_large_node_reason(const SlurmNode &node,
                                  std::uint32_t room_cpus,
                                  MebiBytes room_memory);

} // namespace bridge
