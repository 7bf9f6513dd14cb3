// SPDX-License-Identifier: GPL-2.0-or-later
// What is done next for one gang: a pure function of what is known about its
// Pods and its Slurm job. Calling it again with the same facts gives the same
// answer, and every action may be repeated, so a lost or doubled event costs
// delay and never correctness. This is of a Pod alone; decide_gang.h has the
// table of Pods that say that they belong together, decide_batch.h what is
// otherwise for those that were made for a batch job.
//
//   job           Pods                      action
//   ------------  ------------------------  ----------------------------------
//   any, stale    any                       Look: read the job again
//   none          none, or all over         Forget
//   none          after an uncertain submit Find: is there a job already?
//   none          incomplete, or gated      Wait
//   none          waiting, claims unread    LookVolumes
//   none          waiting                   Submit, or Refuse if it never can;
//                                           Wait while no Node is such as they
//                                           ask for, or their claims are not
//                                           there
//   none          living, bound by us       Adopt: its job is lost
//   none          bound by somebody else    Wait: not ours
//   none, pending waiting, claims for       ReleaseClaims
//                 devices left of a job
//   pending       waiting                   Wait; Renew if it is held for what
//                                           it prefers, or asks for other nodes
//                                           or devices than they do
//   pending       living, to be adopted     Wait
//   pending       living by that job        Adopt: its allocation is lost
//   pending       over, ran by that job     Complete: likewise, too late
//   pending       gone                      Cancel
//   allocated     waiting, claims unbound   BindVolumes
//   allocated     waiting                   Bind; Renew if it does not fit, its
//                                           Node is none that they ask for, or
//                                           they cannot be bound for too long
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
//   suspended     waiting or living         Wait
//   node failed   living, Node not lost     Adopt: Slurm forgot its nodes
//   ended         living by that job        EndPods; Wait while they are ending
//   ended         none living, epilog held  Clean
//   ended         living by a lost job      Adopt
//   ended         waiting, raised since     Submit
//   ended         waiting, ended on purpose FailPods
//   ended         waiting, otherwise        Renew
//   ended         all over                  Forget
#pragma once

#include "agent/gang/action.h"
#include "agent/gang/gang.h"
#include "agent/objects/node_map.h"

namespace bridge {

Action decide(const Gang &gang, const NodeMap &nodes);

} // namespace bridge
