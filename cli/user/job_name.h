// SPDX-License-Identifier: GPL-2.0-or-later
// The job that a user names: by its JobId, or as squeue shows a task of a job
// array, such as 4711_3.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

struct JobName {
    std::uint32_t job = 0;
    std::optional<std::uint32_t> task{}; // of the job array with this JobId

    bool operator==(const JobName &) const = default;
};

// Returns nothing for any other text.
std::optional<JobName> parse_job_name(const std::string &text);

// Returns the JobId. Asks slurmctld about a task of a job array.
// Code::not_found when there is no such task; Code::denied or Code::busy when
// slurmctld cannot be asked.
Result<std::uint32_t> find_job_id(const JobName &name);

} // namespace bridge
