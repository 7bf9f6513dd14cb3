// SPDX-License-Identifier: GPL-2.0-or-later
// A task as a process of this one: how it is started, and its end of pipes.
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
    pid_t pid = 0;   // and its process group
    OwnedFd in{};    // none: it reads something else
    OwnedFd out{};   // likewise
    OwnedFd error{}; // likewise
};

// Starts tasks of one launch, one after the other.
class TaskStarter {
  public:
    // own: the environment of this process.
    TaskStarter(const Launch &launch, const Environment &own)
        : launch_(launch), own_(own)
    {
    }

    // Code::rejected with what could not be opened or started.
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
    std::vector<std::string> opened_; // files that are not emptied again
};

// Children of this process that are none of these: what tasks left behind.
std::vector<pid_t> other_children(const std::vector<pid_t> &known);

// Kills these. True when there were any: what they leave in turn comes to this
// process when it is a subreaper, so that it has to be called again.
bool kill_other_children(const std::vector<pid_t> &known);

// Until there are none, or the time is over.
void end_other_children(const std::vector<pid_t> &known,
                        std::chrono::seconds time);

} // namespace bridge
