// SPDX-License-Identifier: GPL-2.0-or-later
// The table behind job_requests.h: each wish and what it changes in a job.
#pragma once

#include "common/slurm/job.h"

#include <chrono>
#include <string>
#include <string_view>

namespace bridge {

struct Asking {
    JobDescription &job;
    std::string_view value;
    std::chrono::sys_seconds created; // from when relative times count
};

// Returns what the value must be, after "must ", or "" when it was taken.
using ApplyWish = std::string (*)(const Asking &);

// By the name behind the prefix; null: there is no such wish.
ApplyWish find_wish(std::string_view name);

} // namespace bridge
