// SPDX-License-Identifier: GPL-2.0-or-later
// Who may submit placeholder jobs, and what their owners may change. Pure:
// values in, messages for the user out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Tells whether uid may act as the agent: the agent runs as SlurmUser, and root
// may do everything in Slurm anyway.
bool is_agent(std::uint32_t uid, std::uint32_t slurm_user);

// Returns which part of a request for a job, or for its update, is too large to
// be looked at, as a message for the user; nothing if all are small enough.
// slurmctld has the same limits for texts (_test_job_desc_fields() in
// job_mgr.c), but checks them only after the hook, and none for the number of
// entries in spank_job_env.
std::optional<std::string> too_large_reason(const job_desc_msg_t &desc);

// For jobs that the agent has not submitted: returns the reason for a refusal,
// or nothing.
std::optional<std::string> submit_refusal_reason(const job_desc_msg_t &desc);

// For jobs that the agent has not submitted: tells for each entry of
// spank_job_env whether it may stay. Our mark must not, under either name by
// which the hooks would see it. Entries that would make the hooks write beyond
// an array must not, either: slurmctld drops entries that have no '=' or are
// too long, merges those with the same name, and then renames as many entries
// as the job came with (job_common_env_vars(), env_array_merge(),
// valid_spank_job_env()).
std::vector<bool> kept_entries(std::span<char *const> spank_job_env);

// For updates of a job of ours by anybody except the agent: returns the reason
// for a refusal, or nothing. unset is a description as
// slurm_init_job_desc_msg() leaves it.
std::optional<std::string> modify_refusal_reason(const job_desc_msg_t &desc,
                                                 const job_desc_msg_t &unset);

} // namespace bridge
