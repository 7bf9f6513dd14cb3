// SPDX-License-Identifier: GPL-2.0-or-later
// How a step's tasks are: what is said of it, and srun's own exit code, by
// srun's rules (task_state.c and _task_finish() in its launch.c). Pure.
#pragma once

#include "cli/srun/launch.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

class TaskStates {
  public:
    // tasks: of the step. name: how messages call it, such as StepId=12.0.
    TaskStates(std::uint32_t tasks, std::string name);

    void started(const std::vector<TaskId> &tasks);

    // A wait status of these, all on one node. What is to be said of it, empty
    // when that is nothing. A task counts once.
    std::string ended(const std::string &node, const std::vector<TaskId> &tasks,
                      int status);

    // They were on a node that nobody reaches any more.
    void lost(const std::vector<TaskId> &tasks);

    bool has_ended(TaskId task) const { return states_[task] >= State::exited; }
    std::uint32_t left() const { return left_; } // tasks that have not ended
    bool any_ended() const { return left_ < states_.size(); }
    bool any_failed() const { return failed_; }

    // The highest signal, 128 added, or else the highest exit code.
    int exit_code() const;

    // "StepId=12.0 tasks 0-3: running", one line for each state.
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
