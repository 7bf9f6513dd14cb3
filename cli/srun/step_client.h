// SPDX-License-Identifier: GPL-2.0-or-later
// srun while its tasks run: forwards stdin and signals to them, writes their
// output to its destination, and handles their ends. One thread, which sleeps
// in poll().
#pragma once

#include "cli/srun/srun_options.h"
#include "cli/srun/step_link.h"
#include "cli/srun/step_sink.h"
#include "cli/srun/task_states.h"

#include <memory>
#include <string>
#include <vector>

namespace bridge {

// The source of a step's stdin and the destinations of its output.
struct StepPipes {
    int input = -1;                 // -1: none
    std::optional<TaskId> reader{}; // the only task that gets it
    // They are the same object if they are the same file. messages is srun's
    // own stderr.
    std::shared_ptr<StepSink> output, error, messages;
};

// Serves a step whose tasks have been sent to the nodes. Returns srun's exit
// code when all tasks have ended and all their output is written. kill_wait is
// in seconds.
int run_step(const SrunOptions &options, const std::string &step_name,
             std::uint32_t tasks, std::vector<StepLink> links, StepPipes pipes,
             unsigned kill_wait);

} // namespace bridge
