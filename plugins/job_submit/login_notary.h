// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises the requests that ask to tell the agent which user sent them:
// common/contract/login_dir.h explains the protocol. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace bridge {

// Returns the hash in this job description; nothing for any other job.
std::optional<std::string> login_in(std::span<char *const> spank_job_env);

} // namespace bridge
