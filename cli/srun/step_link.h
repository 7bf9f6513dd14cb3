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
    std::string node; // its name
    std::vector<TaskId> tasks;
    OwnedFd fd;
    pid_t keeper = 0; // of srun's own node: step_keeper.h
    StepFrameReader reader{};
    ByteQueue queue{};       // for the node
    std::size_t untaken = 0; // input that no task has read yet, bytes
    bool over = false;       // done, or lost
    bool cancelled = false;  // was told to end: no loss of the node
    bool deaf = false;       // reads no more; what it has sent may still come

    // Nothing for a node that is over or deaf.
    void tell(StepFrameKind kind, std::string_view text);

    // What the socket takes at once. That it takes nothing any more is no loss
    // of the node: it may have sent its last words before it closed.
    void send_some();
};

struct LocalServer {
    OwnedFd fd;
    pid_t keeper = 0;
};

// Processes of this node that serve the step; they end with the connection.
// Code::internal when there can be none.
Result<LocalServer> serve_here(const Environment &own);

// A worker that has shown that it knows the key. One that does not answer is
// asked again until the limit, and that is said on stderr. Code::busy after it,
// Code::rejected or Code::denied when it is not this job's.
Result<OwnedFd> connect_worker(const StepHost &host,
                               const StepIdentity &identity,
                               StepClock::time_point limit);

} // namespace bridge
