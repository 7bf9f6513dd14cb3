// SPDX-License-Identifier: GPL-2.0-or-later
// The actions that can be taken for a gang. Plain values: agent/decide/ chooses
// one, agent/act/ carries it out.
#pragma once

#include "agent/gang/gang.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

struct Wait {
    std::string reason; // "" or a message for the Pods' owner
};
struct Forget {};
struct Submit {};
struct Find {};
struct Refuse {
    std::string reason;
};
struct Look {
    JobRef job;
};
struct Bind {
    JobRef job;
    std::vector<std::string> nodes; // lone Pod: the Node of each Pod
    std::vector<Seat> seats = {};   // grouped gang: seats of the waiting Pods
    std::vector<ClaimPlan> claims = {}; // written before the binding
};
// Gives back ResourceClaims that were allocated devices for an earlier job.
struct ReleaseClaims {
    std::vector<ClaimHold> claims;
};
struct LookVolumes {};
struct BindVolumes {
    JobRef job;
    std::vector<Seat> seats; // where the allocation places waiting Pods
};
struct Start {
    JobRef job;
};
struct Complete {
    JobRef job;
    int status;         // as wait(2) returns it
    std::string reason; // Kubernetes' reason, unless it is a plain exit
};
struct Cancel {
    JobRef job;
    // For the job's comment and for people; empty if somebody asked for it.
    std::string reason = {};
};
struct Renew {
    JobRef job;
    std::uint32_t generation; // the new generation
    std::string reason;
};
// Submits a new job for running Pods, on the Slurm node where they are.
struct Adopt {
    std::string node;
    std::uint32_t generation; // generation of the new job
};
// The running Pods belong to this job from now on.
struct Restamp {
    JobRef job;
    std::string node; // Slurm's name
};
struct EndPods {
    JobRef job;
    JobState state;
    bool insist = false; // they did not end when told to
};
struct FailPods {
    JobRef job;
    JobState state;
};
struct Clean {
    JobRef job;
};
// Splits a grouped gang whose job Slurm has lost: each running Pod goes on as a
// gang of one, so that it is accounted for where it runs. With `late` (uids):
// these Pods came to a gang that runs already and get jobs of their own.
struct Split {
    std::vector<std::string> late = {};
};
// Recreates the unbound Pods of a batch job, because Slurm has placed the job
// on other nodes since they were created.
struct Remake {
    JobRef job;
};
// Resumes a job that somebody has suspended: Slurm gives its resources to
// others, while its Pods go on.
struct ResumeJob {
    JobRef job;
};

using Action = std::variant<Wait, Forget, Submit, Find, Refuse, Look, Bind,
                            Start, Complete, Cancel, Renew, Adopt, Restamp,
                            EndPods, FailPods, Clean, LookVolumes, BindVolumes,
                            Split, ReleaseClaims, Remake, ResumeJob>;

// Returns the name of an Action in logs and metrics.
const char *action_name(const Action &action);
const char *action_name(std::size_t index); // index in Action

} // namespace bridge
