// SPDX-License-Identifier: GPL-2.0-or-later
// Assigns the devices of a job on one node to the requests of its Pods' claims,
// and prepares what must be written before these Pods are bound. Pure.
#pragma once

#include "agent/claims/cpu_devices.h"
#include "agent/gres/needs.h"
#include "common/base/uuid.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// The write for one claim. Nothing is written if the claim already is as it
// should be.
struct ClaimPlan {
    ObjectKey key;
    std::string uid;
    bool allocated = false; // it already is: only the consumer is added
    // If not allocated: devices in the order of its requests.
    std::vector<ChosenDevice> chosen;
    // What it consumes of shared devices.
    std::map<DeviceId, Capacities> shares{};
    DeviceClasses classes;       // the classes of its requests
    std::vector<DeviceId> has{}; // the devices of an allocated claim
    std::string pod{};           // uid of the Pod that becomes a consumer
    // For a claim for extended resources: the body that creates it (empty if it
    // exists), and what is written to the Pod's status before the binding.
    std::string body{};
    std::vector<RequestMapping> mappings{};
    // The JSON of the claim from the watch, which may be outdated. Empty: it
    // must be read.
    std::string text{};

    std::vector<DeviceId> devices() const; // of chosen
};

struct ClaimsPlan {
    // Why this job does not suit the Pods, which then need another job; or
    // empty.
    std::string misfit = {};
    bool bad_node = false; // the next job needs another node, too
    // Why nothing can be written right now, or empty.
    std::string wait = {};
    // All claims, also those that need no write.
    std::vector<ClaimPlan> claims = {};
    std::size_t cost = 0; // of PlanFacts::max_cost
};

// Whether the Pods get no devices now.
inline bool is_trouble(const ClaimsPlan &plan)
{
    return !plan.misfit.empty() || !plan.wait.empty();
}

struct PlanFacts {
    const DeviceNeeds &needs;     // of all Pods of the job on this node
    std::vector<DevicePtr> given; // devices of the job's GRES that serve claims
    CpuOffer cpus = {};           // for CPU devices
    // Devices of the job may stay unused: the Pods' owner has requested GRES
    // from Slurm, too, or the job has room for other Pods.
    bool may_exceed = false;
    const DeviceClasses &classes;
    std::span<const DevicePool> pools;
    const Node &node;
    // Returns the claim, other than the one with this uid, that has the device.
    std::function<std::optional<std::string>(const DeviceId &,
                                             const std::string &uid)>
        holder_of;
    // Returns the names of those devices of the pool that any claim has.
    std::function<std::set<std::string>(const DevicePool &)> taken_in;
    // For devices that are given in shares: the GRES by which Slurm counts
    // them, how much of these the job has on this node (if the node has any),
    // and what shares consume, not counting those of the claims with these
    // uids: ClaimStore::consumed_of().
    std::vector<CapacityGres> counted{};
    GresCounts amounts{};
    std::function<std::optional<Capacities>(const DeviceId &,
                                            const std::set<std::string> &)>
        consumed_of{};
    std::function<std::string()> new_share_id = new_uuid;
    // Limits the cost of all selectors and of the search. results: these are
    // looked up there and not evaluated.
    std::size_t max_cost = CelSelector::max_sum;
    const CelVerdicts *results = nullptr;
};

// The needs must have neither an unfit_reason nor a reason. A claim that does
// not exist yet has the uid uid_until_made().
ClaimsPlan plan_claims(const PlanFacts &facts);

} // namespace bridge
