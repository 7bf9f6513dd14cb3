// SPDX-License-Identifier: GPL-2.0-or-later
// The tasks of one node: processes with their streams, how they are signalled,
// how they end, and what they leave behind. This process has to be a subreaper.
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
    bool any_output() const; // may still come
    void close_streams();

    // Each task's process group; SIGKILL also for what has left it.
    void signal(int number);

    // The tasks that have ended, ascending, by their wait status.
    std::map<int, std::vector<TaskId>> reap();

    // As Slurm does at the end of a step: nothing of it stays. Those that come
    // from orphans come later.
    void kill_orphans() const;

    // How far all have read the input that read at all; end when nobody does.
    std::size_t least_read(std::size_t input_end) const;

  private:
    std::vector<ServedTask> tasks_;
};

} // namespace bridge
