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

#include "agent/gang/gang.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

struct Wait {
    std::string why; // "" or words for the Pods' owner
};
struct Forget {};
struct Submit {};
struct Find {};
struct Refuse {
    std::string why;
};
struct Look {
    JobRef job;
};
struct Bind {
    JobRef job;
    std::vector<std::string> nodes; // the Node of each Pod of a lone one
    std::vector<Seat> seats = {};   // of a grouped one, of those that wait
    std::vector<ClaimPlan> claims = {}; // to be written before
};
// ResourceClaims are given back that an earlier job had got devices for.
struct ReleaseClaims {
    std::vector<ClaimHold> claims;
};
struct LookVolumes {};
struct BindVolumes {
    JobRef job;
    std::vector<Seat> seats; // where Slurm's choice puts those that wait
};
struct Start {
    JobRef job;
};
struct Complete {
    JobRef job;
    int status; // as wait(2) gives it
    std::string why; // in Kubernetes' words, when it is no plain exit
};
struct Cancel {
    JobRef job;
};
struct Renew {
    JobRef job;
    std::uint32_t generation; // the new one
    std::string why;
};
// A new job for Pods that live, on the Slurm node where they are.
struct Adopt {
    std::string node;
    std::uint32_t generation; // of the new job
};
// The Pods that live are this job's from now on.
struct Restamp {
    JobRef job;
    std::string node; // Slurm's
};
struct EndPods {
    JobRef job;
    JobState state;
    bool insist = false; // they did not end when they were told to
};
struct FailPods {
    JobRef job;
    JobState state;
};
struct Clean {
    JobRef job;
};
// Slurm has lost the job of a grouped gang: each of its Pods that live goes on
// as one alone, so that it is accounted for exactly where it is. Or, with Pods
// (uids): these came to a gang that runs, and get jobs of their own.
struct Split {
    std::vector<std::string> late = {};
};
// Slurm has placed a batch job anew since Pods that are on no node were made for
// its nodes: it gets others.
struct Remake {
    JobRef job;
};

using Action =
    std::variant<Wait, Forget, Submit, Find, Refuse, Look, Bind, Start,
                 Complete, Cancel, Renew, Adopt, Restamp, EndPods, FailPods,
                 Clean, LookVolumes, BindVolumes, Split, ReleaseClaims, Remake>;

// The Kubernetes Node behind each Slurm node.
using NodeMap = std::map<std::string, std::string>;

Action decide(const Gang &gang, const NodeMap &nodes);

// The name of an Action in logs and metrics.
const char *action_name(const Action &action);
const char *action_name(std::size_t index); // of Action's alternatives

} // namespace bridge
