// SPDX-License-Identifier: GPL-2.0-or-later
// The states of a step's tasks, the messages about them, and srun's own exit
// code, by srun's rules (task_state.c and _task_finish() in its launch.c). Pure
// functions.
#pragma once

#include "cli/srun/launch.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

class TaskStates {
  public:
    // tasks is their number in the step. name is used in messages, such as
    // StepId=12.0.
    TaskStates(std::uint32_t tasks, std::string name);

    void started(const std::vector<TaskId> &tasks);

    // Notes the wait status of these tasks, which are all on one node. Returns
    // a message for the user, or "" if there is nothing to report. Each task is
    // counted once.
    std::string ended(const std::string &node, const std::vector<TaskId> &tasks,
                      int status);

    // Notes tasks whose node cannot be reached any more.
    void lost(const std::vector<TaskId> &tasks);

    bool has_ended(TaskId task) const { return states_[task] >= State::exited; }
    std::uint32_t left() const { return left_; } // tasks that have not ended
    bool any_ended() const { return left_ < states_.size(); }
    bool any_failed() const { return failed_; }

    // Returns 128 plus the highest signal, or else the highest exit code.
    int exit_code() const;

    // Returns "StepId=12.0 tasks 0-3: running", one line for each state.
    std::vector<std::string> describe() const;

  private:
    enum class State { unknown, running, exited, failed };

    std::vector<State> states_;
    std::string name_;
    std::uint32_t left_;
    bool failed_ = false;
    int highest_code_ = 0;
    int highest_signal_ = 0;
};

} // namespace bridge
