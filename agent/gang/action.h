// SPDX-License-Identifier: GPL-2.0-or-later
// What can be done next for a gang. Values: agent/decide/ chooses one,
// agent/act/ carries it out.
#pragma once

#include "agent/gang/gang.h"

#include <cstddef>
#include <cstdint>
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
    std::vector<std::string> nodes;     // the Node of each Pod of a lone one
    std::vector<Seat> seats = {};       // of a grouped one, of those that wait
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
    int status;      // as wait(2) gives it
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
// Slurm has placed a batch job anew since Pods that are on no node were made
// for its nodes: it gets others.
struct Remake {
    JobRef job;
};

using Action =
    std::variant<Wait, Forget, Submit, Find, Refuse, Look, Bind, Start,
                 Complete, Cancel, Renew, Adopt, Restamp, EndPods, FailPods,
                 Clean, LookVolumes, BindVolumes, Split, ReleaseClaims, Remake>;

// The name of an Action in logs and metrics.
const char *action_name(const Action &action);
const char *action_name(std::size_t index); // of Action's alternatives

} // namespace bridge
