// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm's description of a job says, by slurm.h, of what decides about
// Pods. Pure.
#pragma once

#include <cstdint>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// There is such a text, and something in it.
bool given(const char *text);

// It is to get a signal before its end.
bool has_signal(const job_desc_msg_t &desc);

// It has --array.
bool is_array(const job_desc_msg_t &desc);

// It is one of a heterogeneous job; and one that is not its leader.
bool is_heterogeneous(const job_desc_msg_t &desc);
bool is_component(const job_desc_msg_t &desc);

// How many nodes it may get: by --nodes or --nodelist, else one, whatever its
// tasks are.
std::uint32_t most_nodes(const job_desc_msg_t &desc);

// That is more than one: then it has a Pod on each.
bool has_several_nodes(const job_desc_msg_t &desc);

} // namespace bridge
