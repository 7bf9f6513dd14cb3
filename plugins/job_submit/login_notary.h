// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the agent which user asked: common/contract/login_dir.h has the whole
// way. Called with slurmctld's job lock held, from several threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bridge {

// The hash that this job description carries; nothing for any other job.
std::optional<std::string> login_in(std::span<char *const> spank_job_env);

// Notes it as that user's. Why it could not, in words, or nothing.
std::optional<std::string> note_login(const std::string &login,
                                      std::uint32_t user,
                                      const std::string &state_save_location,
                                      const std::string &conf_path);

} // namespace bridge
