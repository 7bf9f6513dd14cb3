// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the agent which user sent a request: common/contract/login_dir.h
// explains the protocol. Called by several threads with slurmctld's job lock
// held.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bridge {

// Returns the hash in this job description; nothing for any other job.
std::optional<std::string> login_in(std::span<char *const> spank_job_env);

// Records the hash for this user. Returns the reason of a failure as a message
// for the user, or nothing.
std::optional<std::string> record_login(const std::string &login,
                                        std::uint32_t user,
                                        const std::string &state_save_location,
                                        const std::string &conf_path);

} // namespace bridge
