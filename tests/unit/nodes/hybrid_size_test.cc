// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/hybrid_size.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a node of which Slurm gives away more than its kubelet has says so")
{
    SlurmNode node;
    node.cpus = 18; // two of them are kept for the system
    node.usable_cpus = 16;
    node.memory = MebiBytes{33000};
    node.usable_memory = MebiBytes{32000};
    struct {
        std::uint32_t cpus;
        MebiBytes memory;
        std::string words;
    } const table[] = {
        {16, {32000}, ""},
        {99, {99000}, ""},
        {15,
         {32000},
         "Slurm may allocate 16 CPUs and 32000 MiB, but the kubelet has 15 "
         "CPUs and 32000 MiB for it: raise CoreSpecCount"},
        {16,
         {31999},
         "Slurm may allocate 16 CPUs and 32000 MiB, but the kubelet has 16 "
         "CPUs and 31999 MiB for it: raise MemSpecLimit"},
        {0,
         {1},
         "Slurm may allocate 16 CPUs and 32000 MiB, but the kubelet has 0 CPUs "
         "and 1 MiB for it: raise CoreSpecCount and MemSpecLimit"},
        {0, {0}, ""}, // the kubelet has not said yet
    };
    for (const auto &[cpus, memory, words] : table) {
        CAPTURE(cpus);
        CAPTURE(memory.value);
        CHECK(too_large_node_reason(node, cpus, memory) == words);
    }
}
