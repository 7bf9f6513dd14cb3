// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out one Action on a worker thread: dull, blocking, and safe to
// repeat. What it learned goes back to the owner thread as an Outcome.
#pragma once

#include "agent/act/workload_wishes.h"
#include "agent/calls/kube_api.h"
#include "agent/decide/decide.h"
#include "agent/gang/gang.h"
#include "agent/gang/volumes.h"
#include "common/contract/conf.h"
#include "common/slurm/api.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace bridge {

struct Done {};
struct Submitted {
    JobRef job;
    GangTag tag;
    MebiBytes memory_per_node; // as asked; one of them is 0
    MebiBytes memory_per_cpu;
    std::string features;
    std::uint32_t tasks = 1;
    std::uint16_t cpus_per_task = 1;
    std::string gres_per_task = {};
};
struct Looked {
    Job job;
    bool node_down = false; // somebody has set a node of its Pods DOWN
};
struct StillThere { // the Pod of a job that seemed to have none
    Pod pod;
};
struct VolumesSeen {
    VolumeNeeds needs;
    std::set<std::string> claims; // that were read
};
struct PodsEnded {
    // Those (uids) whose binding was of unknown outcome, and which are bound to
    // no node: nothing of them had to be ended.
    std::vector<std::string> never_bound;
};
struct ClaimsRefused { // by the API server, for good
    std::string why;
    std::string node;         // Kubernetes' name: where they were to be used
    bool no_extended = false; // whatever the claim: its feature gate is off
};
using Outcome = std::variant<Done, Submitted, Looked, StillThere, VolumesSeen,
                             PodsEnded, ClaimsRefused>;

// What an Action needs besides the gang: a copy, so that nothing is shared.
struct ActContext {
    Slurm &slurm;
    Kube &kube;
    std::shared_ptr<const Conf> conf;
    Namespace ns;                         // of the gang
    std::function<void()> kick;           // asks slurmctld to schedule now
    std::map<std::string, NodePtr> nodes; // for BindVolumes: as last seen
    Owners *owners = nullptr; // null: what owns Pods may not be read
    // Whether slurmctld has gone away since the Action was decided.
    std::function<bool()> slurmctld_left;
};

// The errors are those of the calls it makes. Code::rejected from a Submit is
// for the Pods' owner to read.
Result<Outcome> act(const Action &action, const Gang &gang,
                    const ActContext &context);

} // namespace bridge
