// SPDX-License-Identifier: GPL-2.0-or-later
// Decides what is done next for one gang: a pure function of what is known
// about its Pods and its Slurm job. The same facts always give the same answer,
// and each may be carried out again, so a lost or repeated event costs delay
// but never correctness. This table is for a lone Pod; decide_gang.h has the
// table for grouped gangs, decide_batch.h the differences for Pods of batch
// jobs.
//
//   job           Pods                      decision
//   ------------  ------------------------  ----------------------------------
//   any, stale    any                       Look: read the job again
//   none          none, or all over         Forget
//   none          after an uncertain submit Find: does a job exist already?
//   none          incomplete, or gated      Wait
//   none          waiting, claims unread    LookVolumes
//   none          waiting                   Submit; Refuse if it never can run;
//                                           Wait while no Node satisfies it or
//                                           is large enough, or its claims do
//                                           not exist
//   none          living, bound by us       Adopt: its job is lost
//   none          bound by somebody else    Wait: not ours
//   none, pending waiting, claims hold      ReleaseClaims
//                 devices of an old job
//   pending       waiting                   Wait; Renew if it is held for its
//                                           preference, requests other nodes
//                                           or devices than the Pods do, or
//                                           their grace period is not allowed
//                                           any more (then Refuse)
//   pending       living, to be adopted     Wait
//   pending       living by that job        Adopt: its allocation is lost
//   pending       over, ran by that job     Complete: likewise, too late
//   pending       gone                      Cancel
//   allocated     waiting, claims unbound   BindVolumes
//   allocated     waiting                   Bind; Renew if it does not fit, its
//                                           Node or its grace period is
//                                           unsuitable, or it cannot be bound
//                                           in time
//   allocated     living, to be adopted     Restamp
//   allocated     living by it, elsewhere   Adopt: allocated twice
//   allocated     bound by others           Cancel
//   allocated     bound, prolog held        Start
//   allocated     living                    Wait
//   allocated     ending on a lost Node     Complete as failed
//   allocated     all over by themselves    Complete with their exit code; Look
//                                           first if slurmctld went away since
//   allocated     ended by a disruption     Complete as failed
//   allocated     gone, or ended by a user  Cancel
//   allocated     over or gone, others use  Wait until these are over, too
//                 devices that it counts
//   allocated     living, by devices of a   Cancel: nobody counts them
//                 claim whose job has ended
//   suspended     waiting or living         ResumeJob; Cancel the second time
//   node failed   living, Node not lost     Adopt: Slurm forgot its nodes
//   ended         living by that job        EndPods; Wait while they are ending
//                                           within their grace
//   ended         none living, epilog held  Clean
//   ended         living by a lost job      Adopt
//   ended         waiting, generation       Submit
//                 raised since
//   ended         waiting, ended on purpose FailPods
//   ended         waiting, otherwise        Renew
//   ended         all over                  Forget
//
// agent/gang/action.h explains them.
#pragma once

#include "agent/gang/action.h"
#include "agent/gang/gang.h"
#include "agent/objects/node_map.h"

namespace bridge {

Decision decide(const Gang &gang, const NodeMap &nodes);

} // namespace bridge
