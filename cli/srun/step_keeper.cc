// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_keeper.h"

#include "cli/srun/step_io.h"
#include "cli/srun/step_server.h"
#include "cli/srun/task_process.h"

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bridge {

void keep_step(OwnedFd peer, const Environment &own)
{
    // The reader of srun's output must see its end when srun is gone, and locks
    // on the script's descriptors must end with the script.
    for (int fd : {0, 1, 2})
        close(fd);
    fill_standard_fds();
    peer = keep_only(std::move(peer));
    setsid(); // a terminal's Ctrl-C must not come here
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    signal(SIGCHLD, SIG_DFL); // if ignored, there would be no wait status
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t server = fork();
    if (server == 0) {
        serve_step(std::move(peer), own);
        _exit(0);
    }
    peer = OwnedFd(); // srun must see when the server ends
    int status = 0;
    if (server > 0 && waitpid(server, &status, 0) == server && status != 0)
        end_other_children({}, keeper_time);
    _exit(0);
}

} // namespace bridge
