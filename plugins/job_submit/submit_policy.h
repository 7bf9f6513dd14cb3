// SPDX-License-Identifier: GPL-2.0-or-later
// Who may submit placeholders, and what their owners may change. Pure: values
// in, sentences for the user out.
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

// The agent runs as SlurmUser; root may do everything in Slurm anyway.
bool is_agent(std::uint32_t uid, std::uint32_t slurm_user);

// For a job of anybody but the agent: why it may not be submitted, if so.
std::optional<std::string> refuse_submit(const job_desc_msg_t &desc);

// For a job of anybody but the agent: which entries of its spank_job_env may
// stay, one answer each. Our mark may not, under either name by which the
// hooks would see it. Nor may what would make them write beyond an array:
// slurmctld leaves out entries without a '=' or too long, merges those of one
// name, and then renames as many as the job came with (job_common_env_vars(),
// env_array_merge(), valid_spank_job_env()).
std::vector<bool> kept_entries(std::span<char *const> spank_job_env);

// For an update of a job of ours by anybody but the agent: why not, if so.
// unset is a description as slurm_init_job_desc_msg() leaves it.
std::optional<std::string> refuse_modify(const job_desc_msg_t &desc,
                                         const job_desc_msg_t &unset);

} // namespace bridge
