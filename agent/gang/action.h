// SPDX-License-Identifier: GPL-2.0-or-later
// What can be done next for a gang. Plain values: agent/decide/ chooses one.
// The owner thread takes an OwnerStep itself, which needs no call; an Action is
// carried out by a worker (agent/act/), and may block.
#pragma once

#include "agent/gang/gang.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace bridge {

// Steps of the owner thread.

struct Wait {
    std::string reason; // "" or a message for the Pods' owner
};
struct Forget {};
// Lists the jobs, to see whether an unanswered submit has made one.
struct Find {};
struct Refuse {
    std::string reason;
};
struct Start {
    JobRef job;
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

using OwnerStep = std::variant<Wait, Forget, Find, Refuse, Start, Clean, Split>;

// Actions of workers.

struct Submit {};
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

using Action = std::variant<Submit, Look, Bind, Complete, Cancel, Renew, Adopt,
                            Restamp, EndPods, FailPods, LookVolumes,
                            BindVolumes, ReleaseClaims, Remake, ResumeJob>;

using Decision = std::variant<OwnerStep, Action>;

// Returns the decision as a step or an action of this kind; null if it is
// another.
template <class Kind> const Kind *as_kind(const Decision &decision)
{
    using Half = std::conditional_t<std::is_constructible_v<Action, Kind>,
                                    Action, OwnerStep>;
    const auto *half = std::get_if<Half>(&decision);
    return half ? std::get_if<Kind>(half) : nullptr;
}

template <class Kind> bool is_kind(const Decision &decision)
{
    return as_kind<Kind>(decision) != nullptr;
}

template <class Kind> bool is_kind(const Action &action)
{
    return std::holds_alternative<Kind>(action);
}

// Whether the action ends the job of the gang.
inline bool ends_job(const Action &action)
{
    return std::holds_alternative<Cancel>(action) ||
           std::holds_alternative<Complete>(action) ||
           std::holds_alternative<Renew>(action);
}

// Returns the name in logs and metrics, and in slurmk8s explain.
const char *action_name(const Action &action);
const char *action_name(std::size_t index); // index in Action
const char *decision_name(const Decision &decision);

} // namespace bridge
