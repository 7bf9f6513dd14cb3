// SPDX-License-Identifier: GPL-2.0-or-later
// What a node must know to run its tasks of a step, as srun sends it. Pure
// functions.
#pragma once

#include "cli/srun/io_name.h"
#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The number of a task in its step: SLURM_PROCID.
using TaskId = std::uint32_t;

inline constexpr std::uint32_t max_step_tasks = 1 << 20;

struct Launch {
    StepFacts facts;
    std::uint32_t node = 0; // number in the step: SLURM_NODEID
    std::string node_name;
    std::vector<TaskId> tasks; // the tasks of this node
    std::string directory;
    std::uint32_t umask = 022;
    std::vector<std::string> arguments;   // the program comes first
    std::vector<std::string> environment; // NAME=VALUE
    StepStream input, output, error;
    bool append = false;          // append to files instead of truncating them
    bool unbuffered = false;      // also pass incomplete lines on
    bool local = false;           // on srun's own node, in its own container
    std::uint32_t kill_wait = 30; // seconds from SIGTERM to SIGKILL
    std::vector<std::uint64_t> limits; // soft limits: step_limits.h

    bool operator==(const Launch &) const = default;
};

std::string encode_launch(const Launch &launch);

// Code::rejected when encode_launch() would not make such a text, when there is
// no task or no program, or when a task occurs twice.
Result<Launch> decode_launch(std::string_view text);

} // namespace bridge
