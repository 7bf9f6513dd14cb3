// SPDX-License-Identifier: GPL-2.0-or-later
// decide() for the Pods of a multi-node batch job: a gang of which one Pod runs
// the script, and whose job belongs to the user. decide.h explains the rest;
// decide_batch.h says what becomes of Submit and Renew.
//
//   job           Pods                      action
//   ------------  ------------------------  ----------------------------------
//   any, stale    any                       Look
//   none          living, bound by us       Split: the job is lost
//   none, pending waiting, claims hold      ReleaseClaims
//                 devices of an old job
//   none          waiting                   Submit
//   none          all over                  Forget
//   pending       living by that job, or a  Split: its allocation is lost, or
//                 lost one                  it is the next job of an array task
//   pending       otherwise                 Wait until it has nodes again
//   allocated     living by a lost job      Split: likewise
//   allocated     the script's is over      Complete as it ended; Look first if
//                                           slurmctld went away since
//   allocated     the script's is gone      Cancel
//   allocated     a worker's is over, gone  Complete as failed
//   suspended     living or waiting         ResumeJob; Cancel the second time
//   allocated     one ends, a Node is lost  Complete as failed
//   allocated     living by it, elsewhere,  Split
//                 or others of it were split
//   allocated     the script's waits, and   Remake
//                 some are for other nodes
//   allocated     some not seen yet         Wait, finally Renew
//   allocated     waiting                   Bind, each to the node that it was
//                                           created for; Renew if impossible
//   allocated     bound, prolog held        Start
//   allocated     living                    Wait
//   node failed   living, Node not lost     Split
//   a component   any                       Cancel: the others end with it
//   ended
//   ended         living by that job        EndPods; Wait while they are ending
//   ended         none living, epilog held  Clean
//   ended         living by a lost job      Split
//   ended         waiting                   FailPods
//   ended         all over                  Forget
#pragma once

#include "agent/decide/decide.h"

namespace bridge {

// Requires gang.batch and gang.grouped.
Decision decide_batch_gang(const Gang &gang, const NodeMap &nodes);

} // namespace bridge
