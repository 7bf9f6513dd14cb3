// SPDX-License-Identifier: GPL-2.0-or-later
// The names of a batch job's output files, from sbatch's patterns: %j, %x and
// the others, as slurmstepd has them for a batch step
// (common/contract/name_pattern.h). Pure.
#pragma once

#include "agent/gang/batch_mark.h"

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// What the patterns stand for.
struct OutputFacts {
    JobRef job;
    std::string job_name;
    std::string user;
    std::string node; // the job's first
    std::string work_dir;
    std::optional<ArrayTask> array{};
};

// An absolute path where the working directory is one. Empty for an empty
// pattern.
std::string expand_output(std::string_view pattern, const OutputFacts &facts);

} // namespace bridge
