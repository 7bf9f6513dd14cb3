// SPDX-License-Identifier: GPL-2.0-or-later
// The table for job_requests.h: each request and what it changes in a job.
#pragma once

#include "common/slurm/job.h"

#include <chrono>
#include <string>
#include <string_view>

namespace bridge {

struct Asking {
    JobDescription &job;
    std::string_view value;
    std::chrono::sys_seconds created; // relative times count from here
};

// Returns what the value must be, without the leading "must ", or "" if it was
// accepted.
using ApplyWish = std::string (*)(const Asking &);

// Finds a request by the name after the prefix; null: it is not supported.
ApplyWish find_wish(std::string_view name);

} // namespace bridge
