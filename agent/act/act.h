// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out one Action on a worker thread: it decides nothing, blocks, and is
// safe to repeat. The result goes back to the owner thread as an Outcome.
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
    MebiBytes memory_per_node; // as requested; one of the two is 0
    MebiBytes memory_per_cpu;
    std::string features;
    std::uint32_t tasks = 1;
    std::uint16_t cpus_per_task = 1;
    std::string gres_per_task = {};
    bool by_wish = false; // it waits by its own wish: pending_quota.h
};
struct Looked {
    Job job;
    bool node_down = false; // a node of its Pods was set DOWN
};
struct StillThere { // the Pod of a job that seemed to have none
    Pod pod;
};
struct VolumesSeen {
    VolumeNeeds needs;
    std::set<std::string> claims; // the claims that were read
};
struct PodsEnded {
    // Pods (uids) whose binding had an unknown outcome and that are on no node:
    // nothing had to be ended for them.
    std::vector<std::string> never_bound;
};
struct ClaimsRefused { // rejected permanently by the API server
    std::string reason;
    std::string node;         // Kubernetes' name of the intended Node
    bool no_extended = false; // its feature gate is off, for all claims
};
using Outcome = std::variant<Done, Submitted, Looked, StillThere, VolumesSeen,
                             PodsEnded, ClaimsRefused>;

// What an Action needs in addition to the gang. Facts are copies or const, so
// that a worker shares no state with the owner thread.
struct ActContext {
    Slurm &slurm;
    Kube &kube;
    std::shared_ptr<const Conf> conf;
    Namespace ns;                         // the gang's namespace
    std::function<void()> kick;           // asks slurmctld to schedule now
    std::map<std::string, NodePtr> nodes; // for BindVolumes; as last seen
    Owners *owners = nullptr;             // null: owners may not be read
    // Whether slurmctld has been unreachable since the Action was decided.
    std::function<bool()> slurmctld_left;
};

// Carries out the Action. Errors are those of the calls that it makes. The
// message of Code::rejected from a Submit is for the Pods' owner.
Result<Outcome> act(const Action &action, const Gang &gang,
                    const ActContext &context);

} // namespace bridge
