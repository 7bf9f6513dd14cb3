// SPDX-License-Identifier: GPL-2.0-or-later
// decide() for a grouped gang: Pods that say that they belong together. They
// get one job with a task for each, all or none of them are bound, and they end
// together; a Pod that its controller makes anew takes a free place in a job
// that runs. As decide.h says of the rest: pure, and every action may be
// repeated.
//
// "Enough" is as many Pods as slurmk8s/gang-min says, or all. A Pod counts for
// the job that bound it; one that has ended well counts as there. A gang whose
// size an object says (elastic: a PodGroup) may have more Pods; those on top of
// it wait until it runs.
//
//   job           Pods                      action
//   ------------  ------------------------  ----------------------------------
//   any, stale    any                       Look
//   none          none                      Forget
//   none          wait, no PodGroup         Wait
//   none          after an uncertain submit Find
//   none          living, bound by us       Split: the job is lost
//   none          too few wait              Wait: "3 of 8 Pods …"
//   none          enough wait               Submit, Refuse or Wait, as for one
//   none          any waits with devices    ReleaseClaims
//                 left of a job
//   none          all over                  Wait: one may be made again
//   pending       living by that job        Split: its allocation is lost
//   pending       over, ran by that job     Complete: its allocation is lost
//   pending       none waits                Cancel
//   pending again an epilog is held         Clean, then Renew: backfill could not
//                                           start all components
//   pending       too few, more than tasks, Renew
//                 or others than it is for;
//                 no PodGroup, or another
//   pending       enough wait               Wait, or Renew as for one
//   allocated     gone                      Complete if one had failed, or Cancel
//   allocated     over, none by that job    Cancel
//   allocated     all over                  Wait while one may be made again, then
//                                           Complete as the first that failed; Look
//                                           first if slurmctld went away since
//   suspended     waiting or living         Wait
//   allocated     living by it, elsewhere   Split
//   configuring   none bound, and as        Renew
//                 "pending" says
//   configuring   waiting                   Bind; Renew if they do not fit, their
//                                           claims can have no devices of the
//                                           job's, or they cannot be bound for
//                                           too long
//   configuring   too few are bound, none   Wait for the others, at last Renew
//                 waits
//   configuring   enough are bound, if more Start, and then as for "running"
//                 wait or not
//   running       waiting                   Bind where a task is free, and its
//                                           devices are, or Wait;
//                                           elastic, none free: Split these; of
//                                           a later PodGroup: Wait
//   allocated     ending on a lost Node     Complete as failed
//   node failed   living, Node not lost     Split
//   a component   any                       Cancel: the others end with it
//   has ended
//   ended         living by that job        EndPods; Wait while they are ending
//   ended         none living, epilog held  Clean
//   ended         living by a lost job      Split
//   ended         waiting, not what it was  as without a job
//                 for, or raised since
//   ended         waiting, ended on purpose FailPods
//   ended         waiting, otherwise        Renew
//   ended         all over                  Wait: one may be made again
#pragma once

#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

Action decide_gang(const Gang &gang, const NodeMap &nodes);

// Some of its Pods live where a job of ours has put them, and that is not the
// gang's.
bool lives_by_lost_job(const Gang &gang);

// What its job, which has ended, needs before Pods that wait have their turn.
// Nothing: no more.
std::optional<Action> step_after_end(const Gang &gang);

// Its job is allocated, and its Pods have these seats: Bind those whose claims
// get their devices there. Before any is bound all of them must; Renew when
// that cannot be.
Action bind_ready(const Gang &gang, std::vector<Seat> seats);

} // namespace bridge
