// SPDX-License-Identifier: GPL-2.0-or-later
// decide() for a grouped gang: Pods that declare that they belong together.
// They get one job with one task each, all or none of them are bound, and they
// end together; a Pod that its controller recreates takes a free place in a
// running job. As decide.h says of the rest, this is pure and every action may
// be repeated.
//
// "Enough" is the number of Pods in slurmk8s/gang-min, or all. A Pod counts for
// the job that bound it; one that has succeeded counts as present. A gang whose
// size an object defines (elastic: a PodGroup) may have more Pods; the
// additional ones wait until it runs.
//
//   job           Pods                      action
//   ------------  ------------------------  ----------------------------------
//   any, stale    any                       Look
//   none          none                      Forget
//   none          wait, no PodGroup         Wait
//   none          after an uncertain submit Find
//   none          living, bound by us       Split: the job is lost
//   none          too few wait              Wait: "3 of 8 Pods …"
//   none          enough with those done,   Wait for a moment
//                 and more may come
//   none          enough wait               Submit, Refuse or Wait, as for one
//   none          any waits with devices    ReleaseClaims
//                 of an old job
//   none          all over                  Wait: one may be recreated
//   pending       living by that job        Split: its allocation is lost
//   pending       over, ran by that job     Complete: its allocation is lost
//   pending       none waits                Cancel
//   pending again an epilog is held         Clean, then Renew: backfill could
//                                           not start all components
//   pending       too few, more than tasks, Renew
//                 or others than it is for;
//                 no PodGroup, or another
//   pending       enough wait               Wait, or Renew as for one
//   allocated     gone                      Complete if one had failed, else
//                                           Cancel
//   allocated     over, none by that job    Cancel
//   allocated     all over                  Wait while one may be recreated,
//                                           then Complete as the first that
//                                           failed; Look first if slurmctld
//                                           went away since
//   allocated     over, others use devices  Wait until these are over, too
//                 that it counts
//   allocated     living, by devices of a   Cancel: nobody counts them
//                 claim whose job has ended
//   suspended     waiting or living         ResumeJob; Cancel the second time
//   allocated     living by it, elsewhere   Split
//   configuring   none bound, and as        Renew
//                 "pending" says
//   configuring   waiting                   Bind; Renew if they do not fit,
//                                           their claims cannot have the job's
//                                           devices, or they cannot be bound
//                                           in time
//   configuring   too few are bound, none   Wait for the others, finally Renew
//                 waits
//   configuring   enough are bound, whether Start, and then as for "running"
//                 more wait or not
//   running       waiting                   Bind where a task and its devices
//                                           are free, or Wait; elastic, none
//                                           free: Split these; of a later
//                                           PodGroup: Wait
//   allocated     ending on a lost Node     Complete as failed
//   node failed   living, Node not lost     Split
//   a component   any                       Cancel: the others end with it
//   has ended
//   ended         living by that job        EndPods; Wait while they are ending
//   ended         none living, epilog held  Clean
//   ended         living by a lost job      Split
//   ended         waiting, others than it   as without a job
//                 was for, or generation
//                 raised since
//   ended         waiting, ended on purpose FailPods
//   ended         waiting, otherwise        Renew
//   ended         all over                  Wait: one may be recreated
#pragma once

#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

Decision decide_gang(const Gang &gang, const NodeMap &nodes);

// Whether some Pods run where a job of ours put them that is not the gang's
// current job.
bool lives_by_lost_job(const Gang &gang);

// Returns what its ended job needs before waiting Pods have their turn, or
// nothing.
std::optional<Decision> step_after_end(const Gang &gang);

// For an allocated job whose Pods have these seats: returns Bind for the Pods
// whose claims get their devices there. Before any Pod is bound, all must get
// them; Renew if that is impossible.
Decision bind_ready(const Gang &gang, std::vector<Seat> seats);

} // namespace bridge
