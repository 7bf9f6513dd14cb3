// SPDX-License-Identifier: GPL-2.0-or-later
// What is decided otherwise for a Pod that was made for a batch job: the job
// was there first and is the user's, so it is never asked for again.
//
//   as for any Pod      for these
//   ------------------  ------------------------------------------------------
//   Submit              Wait for its job; FailPods when that is known to be gone
//   Renew, allocated    Complete as failed, with the reason in the job's comment
//   Renew, pending      Wait, with the reason
//   Renew, ended        FailPods
//   Refuse              as Submit
//   Wait, as no kubelet Complete as failed, with kubelet's reason
//   can start it
//   Complete, pending   Wait: it ends as its Pod did when it has a node again
//   Wait, a worker that Complete: its own job has nothing to do any more
//   was split from the
//   rest, and the
//   script has ended
//   Bind, and slurmctld Look first: it may have placed the job anew, and what
//   went away since     its script is told of its nodes is of no use then
//   Look, one Pod that  the same; if slurmctld has taken the node of its job back,
//   waits               or placed it anew, the job is one without a Pod again
//   waits, made for     Remake: slurmctld has placed the job anew
//   other nodes
//   anything else       the same: also Adopt, of one that lives
#pragma once

#include "agent/decide/decide.h"

namespace bridge {

// action: what decide() says of any other Pod. Only where gang.batch.
Action decide_batch(const Gang &gang, Action action);

} // namespace bridge
