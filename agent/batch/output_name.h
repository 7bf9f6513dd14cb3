// SPDX-License-Identifier: GPL-2.0-or-later
// The names of a batch job's output files, from sbatch's patterns (%j, %x and
// others), expanded as slurmstepd does for a batch step
// (common/contract/name_pattern.h). Pure functions.
#pragma once

#include "agent/gang/batch_mark.h"

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// The values that replace the patterns.
struct OutputFacts {
    JobRef job;
    std::string job_name;
    std::string user;
    std::string node; // the first node of the job
    std::string work_dir;
    std::optional<ArrayTask> array{};
};

// Returns the expanded name, which is an absolute path if the working directory
// is one. Returns "" for an empty pattern.
std::string expand_output(std::string_view pattern, const OutputFacts &facts);

} // namespace bridge
