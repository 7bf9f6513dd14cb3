// SPDX-License-Identifier: GPL-2.0-or-later
// The job that a user means: by its JobId, or as squeue shows a task of an
// array, 4711_3.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

struct JobName {
    std::uint32_t job = 0;
    std::optional<std::uint32_t> task{}; // of the array that has this JobId

    bool operator==(const JobName &) const = default;
};

// Nothing for any other text.
std::optional<JobName> parse_job_name(const std::string &text);

// Its JobId. Asks slurmctld about a task of an array: Code::not_found when it
// knows none, denied and busy when it cannot be asked.
Result<std::uint32_t> find_job_id(const JobName &name);

} // namespace bridge
