// SPDX-License-Identifier: GPL-2.0-or-later
// Reads those fields of Slurm's job description (slurm.h) that matter for Pods.
// Pure.
#pragma once

#include <cstdint>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Tells whether text is neither null nor empty.
bool given(const char *text);

// Tells whether the job is to get a signal before its end.
bool has_signal(const job_desc_msg_t &desc);

// Tells whether the job has --array.
bool is_array(const job_desc_msg_t &desc);

// Tell whether the job is part of a heterogeneous job, and whether it is a
// component other than the leader.
bool is_heterogeneous(const job_desc_msg_t &desc);
bool is_component(const job_desc_msg_t &desc);

// Returns the largest number of nodes that the job may get: by --nodes or
// --nodelist, otherwise 1, whatever its number of tasks.
std::uint32_t most_nodes(const job_desc_msg_t &desc);

// Tells whether that is more than one. Such a job has a Pod on each node.
bool has_several_nodes(const job_desc_msg_t &desc);

} // namespace bridge
