// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of one node: their processes and streams, how they are signalled,
// how they end, and what they leave behind. This process must be a subreaper.
#pragma once

#include "cli/srun/task_process.h"
#include "cli/srun/task_streams.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct ServedTask {
    TaskId task;
    pid_t pid;
    InputPipe in;
    TaskOutput out, error;
    bool ended = false;
};

class StepTasks {
  public:
    std::vector<ServedTask>::iterator begin() { return tasks_.begin(); }
    std::vector<ServedTask>::iterator end() { return tasks_.end(); }
    ServedTask &operator[](std::size_t i) { return tasks_[i]; }

    void add(TaskProcess process);

    bool all_ended() const;
    bool any_output() const; // any output may still come
    void close_streams();

    // Signals each task's process group. SIGKILL also goes to processes that
    // have left it.
    void signal(int number);

    // Returns the tasks that have ended, in ascending order, by their wait
    // status.
    std::map<int, std::vector<TaskId>> reap();

    // Kills the remaining processes of the step, as Slurm does at its end.
    // Their own children become visible only afterwards, so that this must be
    // called again.
    void kill_orphans() const;

    // Returns up to which position all tasks have read the input; input_end if
    // no task reads it.
    std::size_t least_read(std::size_t input_end) const;

  private:
    std::vector<ServedTask> tasks_;
};

} // namespace bridge
