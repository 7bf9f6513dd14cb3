// SPDX-License-Identifier: GPL-2.0-or-later
// srun while its tasks run: stdin to them, their output to where it belongs,
// signals, and their ends. One thread; it sleeps in poll().
#pragma once

#include "cli/srun/srun_options.h"
#include "cli/srun/step_link.h"
#include "cli/srun/step_sink.h"
#include "cli/srun/task_states.h"

#include <memory>
#include <string>
#include <vector>

namespace bridge {

// Where a step's stdin comes from, and its output goes.
struct StepPipes {
    int input = -1;                 // none
    std::optional<TaskId> reader{}; // the only task that gets it
    // The same one for one file. messages: srun's own stderr.
    std::shared_ptr<StepSink> output, error, messages;
};

// The tasks have been sent to the nodes. Returns srun's exit code when all have
// ended, and all that they wrote is written.
int run_step(const SrunOptions &options, const std::string &step_name,
             std::uint32_t tasks, std::vector<StepLink> links, StepPipes pipes,
             unsigned kill_wait);

} // namespace bridge
