// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/hybrid_size.h"

#include <format>

namespace bridge {

std::string too_large_node_reason(const SlurmNode &node,
                                  std::uint32_t room_cpus,
                                  MebiBytes room_memory)
{
    bool cpus = node.usable_cpus > room_cpus;
    bool memory = node.usable_memory > room_memory;
    bool unknown = room_cpus == 0 && room_memory.value == 0;
    if (unknown || (!cpus && !memory))
        return {};
    return std::format(
        "{} {} CPUs and {} MiB, but the kubelet has {} CPUs and {} MiB for "
        "it: raise {}",
        too_large_node_text, node.usable_cpus, node.usable_memory.value,
        room_cpus, room_memory.value,
        !memory ? "CoreSpecCount"
        : !cpus ? "MemSpecLimit"
                : "CoreSpecCount and MemSpecLimit");
}

} // namespace bridge
