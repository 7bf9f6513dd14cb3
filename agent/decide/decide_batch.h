// SPDX-License-Identifier: GPL-2.0-or-later
// The decisions that differ for a Pod of a batch job: the job existed first and
// belongs to the user, so the agent never submits it again.
//
//   any other Pod       these Pods
//   ------------------  ------------------------------------------------------
//   Submit              Wait for the job; FailPods if it is known to be gone
//   Renew, allocated    Complete as failed, with the reason as job comment
//   Renew, pending      Wait, with the reason
//   Renew, ended        FailPods
//   Refuse              as Submit
//   Wait, because no    Complete as failed, with kubelet's reason
//   kubelet starts it
//   Complete, pending   Wait: the job ends as its Pod did once it has a node
//                       again
//   Wait, a worker that Complete: its own job has nothing to do any more
//   was split from the
//   rest, and the
//   script has ended
//   Bind, and slurmctld Look first: slurmctld may have placed the job
//   went away since     elsewhere, and what its script is told of its nodes
//                       would be wrong
//   Look, one Pod that  the same; if slurmctld has taken the job's node back or
//   waits               placed the job elsewhere, it is a job without a Pod
//                       again
//   waiting, created    Remake: slurmctld has placed the job elsewhere
//   for other nodes
//   anything else       the same, including Adopt for a running Pod
#pragma once

#include "agent/decide/decide.h"

namespace bridge {

// Returns the decision for a Pod of a batch job. decision: what decide()
// returns for any other Pod. Requires gang.batch.
Decision decide_batch(const Gang &gang, Decision decision);

} // namespace bridge
