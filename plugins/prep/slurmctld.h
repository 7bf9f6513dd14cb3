// SPDX-License-Identifier: GPL-2.0-or-later
// What prep/k8s needs from the slurmctld around it. An interface, so that tests
// need no slurmctld.
#pragma once

#include "common/base/log.h"
#include "common/base/result.h"
#include "plugins/prep/control_watch.h"
#include "plugins/prep/gate.h"

#include <string>
#include <vector>

namespace bridge {

class Slurmctld {
  public:
    virtual ~Slurmctld() = default;

    // Whether slurmctld is in control. Called by the link's thread, often; may
    // read a small file.
    virtual ControlWatch::Finding control() = 0;

    // Called by the link's thread and by the hooks.
    virtual std::vector<std::string> nodes_of(const std::string &hostlist) = 0;

    // Called by the link's thread. Takes slurmctld's job write lock, so it must
    // not be called in a hook.
    virtual void finish(const Release &release) = 0;
    virtual void kick() = 0; // runs the scheduler

    // Called by a thread of their own: they block for RPCs to slurmctld.
    //
    // Drains a node, so that it gets no more jobs. Sets this reason unless the
    // node is drained already. Code::busy if that fails.
    virtual Result<> drain(const std::string &node,
                           const std::string &reason) = 0;
    // Requeues this run of a job, unless it has ended; that is a success, too.
    // Code::rejected if the job can never be requeued, Code::busy if it should
    // be tried again.
    virtual Result<> requeue(JobRef job) = 0;

    // Called by any thread.
    virtual void log(LogLevel level, const std::string &line) = 0;
};

} // namespace bridge
