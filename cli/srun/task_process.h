// SPDX-License-Identifier: GPL-2.0-or-later
// Starts the tasks of a step as child processes, and ends what they leave
// behind. A TaskProcess has this process' ends of the task's pipes.
#pragma once

#include "cli/srun/launch.h"
#include "cli/srun/srun_options.h"
#include "common/base/owned_fd.h"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bridge {

struct TaskProcess {
    TaskId task = 0;
    pid_t pid = 0;   // also the process group
    OwnedFd in{};    // none: the task reads something else
    OwnedFd out{};   // none: it writes elsewhere
    OwnedFd error{}; // none: it writes elsewhere
};

// Starts the tasks of one launch, one after the other.
class TaskStarter {
  public:
    // own is the environment of this process.
    TaskStarter(const Launch &launch, const Environment &own)
        : launch_(launch), own_(own)
    {
    }

    // Fails with Code::rejected, and says what could not be opened or started.
    Result<TaskProcess> start(std::size_t local_id);

  private:
    struct Ends {
        OwnedFd ours{};
        OwnedFd task{};
    };

    Result<Ends> open_input(std::size_t local_id);
    Result<Ends> open_output(const StepStream &stream, std::size_t local_id);
    [[noreturn]] void become_task(std::size_t local_id, int in, int out,
                                  int error);

    const Launch &launch_;
    const Environment &own_;
    std::vector<std::string> opened_; // files that must not be truncated again
};

// Returns the children of this process that are not in the list: what tasks
// left behind.
std::vector<pid_t> other_children(const std::vector<pid_t> &known);

// Kills the other children. Returns true if there were any: then their own
// children may have come to this process, if it is a subreaper, and this must
// be called again.
bool kill_other_children(const std::vector<pid_t> &known);

// Kills the other children until there are none left or the time is over.
void end_other_children(const std::vector<pid_t> &known,
                        std::chrono::seconds time);

} // namespace bridge
