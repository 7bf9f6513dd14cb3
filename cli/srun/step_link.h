// SPDX-License-Identifier: GPL-2.0-or-later
// srun's connections to the nodes of a step.
#pragma once

#include "cli/srun/hosts_file.h"
#include "cli/srun/launch.h"
#include "cli/srun/proof.h"
#include "cli/srun/srun_options.h"
#include "cli/srun/step_frame.h"
#include "cli/srun/step_io.h"

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace bridge {

struct StepLink {
    std::string node; // name of the Slurm node
    std::vector<TaskId> tasks;
    OwnedFd fd;
    pid_t keeper = 0; // on srun's own node: step_keeper.h
    StepFrameReader reader{};
    ByteQueue queue{};       // data for the node
    std::size_t untaken = 0; // input that no task has read yet, bytes
    bool over = false;       // done or lost
    bool cancelled = false;  // was told to end; the node is not lost
    bool deaf = false;       // it reads no more, but may still send

    // Does nothing for a node that is over or deaf.
    void queue_frame(StepFrameKind kind, std::string_view text);

    // Sends what the socket takes at once. A node that takes nothing any more
    // does not count as lost: it may have sent its last frames before it
    // closed.
    void send_some();
};

struct LocalServer {
    OwnedFd fd;
    pid_t keeper = 0;
};

// Starts the processes of this node that serve the step; they end with the
// connection. Code::internal on failure.
Result<LocalServer> serve_here(const Environment &own);

// Connects to a worker, which proves that it knows the key. If it does not
// answer, the connection is tried again until the limit, with a message on
// stderr. Code::busy after the limit, Code::rejected or Code::denied when the
// worker is not that of this job.
Result<OwnedFd> connect_worker(const StepHost &host,
                               const StepIdentity &identity,
                               StepClock::time_point limit);

} // namespace bridge
