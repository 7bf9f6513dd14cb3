// SPDX-License-Identifier: GPL-2.0-or-later
// What the ResourceClaims of a Pod mean for its Slurm job: which GRES a task
// needs, where devices that are allocated already can be used, and why the Pod
// has to wait or cannot be helped. Pure.
//
//   claim                            what follows
//   -------------------------------  -----------------------------------------
//   not made yet, missing, being     wait
//   deleted, another Pod's, full
//   not supported                    objection
//   allocated                        the Pod goes where its devices can be used;
//                                    but see why_of_others()
//   not allocated, others ask Slurm  wait until they have its devices
//   for its devices
//   not allocated                    GRES for its devices, or CPUs
//   of its extended resources        likewise, also while it is not made yet
//   none: resources of device        GRES for them, on Nodes that offer them
//   plugins
#pragma once

#include "agent/claims/resource_claim.h"
#include "agent/gres/catalog.h"
#include "agent/gres/extended_claim.h"
#include "agent/objects/objects.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bridge {

// One request of a claim that has no devices yet.
struct DevicesWanted {
    std::size_t claim = 0;                  // of DeviceNeeds::claims
    const DeviceRequest *request = nullptr; // the choice of firstAvailable
    GresWish wish;          // of adminAccess: not used, nothing is counted
    std::int64_t count = 1; // of allocationMode All: on some one Node
};

// A CPU for each device, and no GRES.
inline bool asks_cpus(const DevicesWanted &wanted)
{
    return wanted.wish.gres == cpu_gres && !wanted.request->admin_access;
}

struct DeviceNeeds {
    std::string objection; // why it never can; empty: it may
    std::string why;       // why it has to wait; empty: it need not
    std::vector<ResourceClaimPtr> claims; // each once, in the Pod's order
    std::vector<std::string> consumers;   // the uid of each one's Pod
    std::vector<DevicesWanted> wanted;    // of those without devices
    std::vector<NodeSelector> selectors;  // where the others can be used, all
    std::vector<ExtendedNeeds> extended;  // a claim of one is among the others
    std::vector<PluginWish> plugins;      // of device plugins: without a claim
};

struct ClaimFacts {
    // Null when there is none.
    std::function<ResourceClaimPtr(const ObjectKey &)> find_claim;
    // As GresMemo::gres_for().
    std::function<Result<GresWish>(const DeviceRequest &, CelBudget &)>
        gres_for;
    // How many devices fit the request on the Node that has most of them, among
    // those on which the Pod may run; as why_unfit() when that cannot be told.
    std::function<Result<std::int64_t>(const DeviceRequest &, CelBudget &)>
        most_on_a_node;
    // Whether another Pod's job has been asked for with this claim's GRES.
    std::function<bool(const ResourceClaim &)> asked_by_others;
    bool admin_access = false;   // its namespace may
    ExtendedNeeds extended = {}; // what its extended resources need
};

DeviceNeeds device_needs(const Pod &pod, const ClaimFacts &facts);

// Those of one Pod more, of the same gang. Without its objection and its why.
void add_needs(DeviceNeeds &to, const DeviceNeeds &more);

// The claim without devices that several of the Pods name, if there is one: no
// job of theirs could count these devices once. Null: none.
ResourceClaimPtr shared_claim(const std::vector<DeviceNeeds> &pods);

// What a task asks Slurm for, as slurmctld has it:
// "gres/gpu:a100:2,gres/nic:1". "": nothing.
std::string task_gres(const DeviceNeeds &needs);
// A task in which each of the Pods has enough.
std::string task_gres(const std::vector<DeviceNeeds> &pods);

} // namespace bridge
