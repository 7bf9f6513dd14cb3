// SPDX-License-Identifier: GPL-2.0-or-later
// What follows for a gang from Nodes, from the other gangs and from the time,
// as values. Each is derived by one part of the owner thread before each
// decision; Owner::derive() alone writes them into the Gang. They are part of
// it because decide(), its questions, and the workers need them together with
// what is known.
#pragma once

#include "agent/objects/objects.h"

#include <chrono>
#include <string>

namespace bridge {

// GroupTimes; for a grouped gang only.
struct TimeFacts {
    // Its job has nodes, but some Pods have been missing for longer than
    // BindTimeout.
    bool short_overdue = false;
    // RejoinGrace, in which a failed Pod may be recreated, is over.
    bool rejoin_over = false;
    // It is complete only by Pods that have succeeded, and more may be about to
    // come: their Job may have others to run.
    bool may_refill = false;
};

// GraceLimits.
struct GraceFacts {
    // Pods that were told to end have not done so in time.
    bool end_overdue = false;
    // The longest time that a container gets from TERM to KILL once the job has
    // ended.
    std::chrono::seconds longest{max_grace_period};
    // The longest grace period that a Pod may have and still get a job. A
    // kubelet grants it in full if it stops the Pod already when the job ends.
    std::chrono::seconds allowed{max_grace_period};
};

// Placement, narrowed by GangDeviceFacts.
struct PlacementFacts {
    // The Nodes that its Pods may run on, and those among them that they
    // prefer, if any node has such a feature now.
    PredicatePtr predicate;
    PredicatePtr preferred;
    // Why no job can be requested, or start, anywhere now; empty: it can.
    std::string nowhere;
    // More Nodes would help: that is because no Node suits its Pods.
    bool no_node = false;
    // Why its Pods may not run on the Node of its allocation; empty: they may.
    std::string misplaced_reason;
};

// SharedClaims.
struct CountingFacts {
    // A Pod of another job that uses, or is about to use, devices that the job
    // of this gang counts (its name); empty: there is none. The job must not
    // end before it.
    std::string counts_for;
    // Why no job counts devices that its running Pods use by a claim of another
    // job any more, as a clause; empty: one does, or that is not known.
    std::string uncounted_reason;
};

// BatchPods; for the Pods of a batch job only.
struct BatchFacts {
    bool gone = false; // that job is gone and never had a node
    // Some Pods of its multi-node batch job are in this gang, others already
    // have jobs of their own.
    bool scattered = false;
    // Why a kubelet has not started its Pod for too long.
    std::string start_failure_reason;
};

} // namespace bridge
