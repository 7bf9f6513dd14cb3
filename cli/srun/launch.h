// SPDX-License-Identifier: GPL-2.0-or-later
// What a node has to know to run its tasks of a step, as srun sends it. Pure.
#pragma once

#include "cli/srun/io_name.h"
#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// A task of a step has a number of its own: SLURM_PROCID.
using TaskId = std::uint32_t;

inline constexpr std::uint32_t max_step_tasks = 1 << 20;

struct Launch {
    StepFacts facts;
    std::uint32_t node = 0; // of the step: SLURM_NODEID
    std::string node_name;
    std::vector<TaskId> tasks; // of this node
    std::string directory;
    std::uint32_t umask = 022;
    std::vector<std::string> arguments;   // the program first
    std::vector<std::string> environment; // NAME=VALUE
    StepStream input, output, error;
    bool append = false;     // to files, which are empty at first otherwise
    bool unbuffered = false; // output also without a line's end
    bool local = false;      // on srun's own node, in its own container
    std::uint32_t kill_wait = 30;      // seconds from SIGTERM to SIGKILL
    std::vector<std::uint64_t> limits; // soft ones: step_limits.h

    bool operator==(const Launch &) const = default;
};

std::string encode_launch(const Launch &launch);

// Code::rejected when it is no launch that encode_launch() makes, has no task,
// one task twice or no program.
Result<Launch> decode_launch(std::string_view text);

} // namespace bridge
