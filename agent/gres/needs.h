// SPDX-License-Identifier: GPL-2.0-or-later
// What the ResourceClaims of a Pod require of its Slurm job: which GRES a task
// needs, where devices that are already allocated can be used, and why the Pod
// has to wait or can never run. Pure.
//
//   claim                            consequence
//   -------------------------------  -----------------------------------------
//   not created yet, missing, being  wait
//   deleted, another Pod's, full
//   not supported                    the Pod is refused, with the reason
//   allocated                        the Pod goes where its devices can be
//                                    used; but see claims_in_use_reason()
//   not allocated, another Pod's     wait until the claim has its devices
//   job requests its devices
//   not allocated                    GRES for its devices, or CPUs
//   of its extended resources        likewise, also before it is created
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
    std::size_t claim = 0; // index in DeviceNeeds::claims
    // With firstAvailable: the chosen alternative.
    const DeviceRequest *request = nullptr;
    GresWish wish;          // not used for adminAccess, which counts nothing
    std::int64_t count = 1; // for allocationMode All: the most on any one Node
};

// Returns true if each device is one of Slurm's CPUs and not a GRES.
inline bool asks_cpus(const DevicesWanted &wanted)
{
    return wanted.wish.gres == cpu_gres && !wanted.request->admin_access;
}

// What the requests of a claim without devices come to: members as in
// DeviceNeeds.
struct ClaimAnswer {
    std::vector<DevicesWanted> wanted; // claim: 0
    std::string unfit_reason;
    std::string reason;
    bool unanswered = false;
};

struct DeviceNeeds {
    std::string unfit_reason; // why the Pod can never run, or empty
    std::string reason;       // why it has to wait, or empty
    // Only since answers about its claims are not known yet, or only those of
    // the devices of before.
    bool unanswered = false;
    // What it took to find all this out, as steps, and the part of that which
    // ClaimFacts::remembered takes the next time.
    std::size_t cost = 0;
    std::size_t cost_of_kept = 0;
    std::vector<ResourceClaimPtr> claims; // each once, in the Pod's order
    std::vector<std::string> consumers;   // the uid of the Pod of each claim
    std::vector<DevicesWanted> wanted;    // of claims without devices
    // Where allocated devices can be used; all must hold.
    std::vector<NodeSelector> selectors;
    std::vector<ExtendedNeeds> extended; // a claim of one is also in claims
    std::vector<PluginWish> plugins;     // of device plugins, without a claim
};

// What a thread may still do for the claims of a Pod, and whether it has used
// an answer of devices as they were before.
struct ReadBudget : CelBudget {
    using CelBudget::CelBudget;

    bool outdated = false;
};

struct ClaimFacts {
    // Returns the claim, or null if there is none.
    std::function<ResourceClaimPtr(const ObjectKey &)> find_claim;
    // As gres_for(). This and what follows take what the owner thread does from
    // the budget, and fail with Code::busy, and a sentence, if the answer is
    // not known yet. If it is of the devices of before, they say so in the
    // budget.
    std::function<Result<GresWish>(const DeviceRequest &, ReadBudget &)>
        gres_for;
    // Returns how many devices fit the request on the Node that has most of
    // them, among the Nodes on which the Pod may run. Fails as
    // unfit_device_reason() does.
    std::function<Result<std::int64_t>(const DeviceRequest &, ReadBudget &)>
        most_on_a_node;
    // Returns true if the job of another Pod requests the GRES for this claim.
    std::function<bool(const ResourceClaim &)> asked_by_others;
    bool admin_access = false;   // its namespace allows adminAccess
    ExtendedNeeds extended = {}; // what its extended resources need
    // Returns true if a claim of that name has been deleted and there is none
    // since. Null: nobody knows.
    std::function<bool(const ObjectKey &)> was_deleted = {};
    // As most_on_a_node, but among all Nodes that Slurm has, whatever the Pod
    // may have. Null: nobody knows.
    std::function<Result<std::int64_t>(const DeviceRequest &, ReadBudget &)>
        most_on_any_node = {};
    // Returns what read() does, or has done for this claim if nothing has
    // changed since. Null: nothing is remembered.
    std::function<ClaimAnswer(const ResourceClaimPtr &,
                              const std::function<ClaimAnswer()> &read)>
        remembered = {};
};

DeviceNeeds device_needs(const Pod &pod, const ClaimFacts &facts);

// Returns "the ResourceClaim NAME", for messages. A claim that does not exist
// yet has no name that users know.
std::string title_of(const ResourceClaim &claim);

// Adds the needs of one more Pod of the gang, without its unfit_reason and its
// reason to wait.
void add_needs(DeviceNeeds &to, const DeviceNeeds &more);

// Returns a claim without devices that several of the Pods name, since no job
// of theirs could count its devices just once. Null: there is none.
ResourceClaimPtr shared_claim(const std::vector<DeviceNeeds> &pods);

// Returns the GRES of a task in slurmctld's format, such as
// "gres/gpu:a100:2,gres/nic:1". "": none.
std::string task_gres(const DeviceNeeds &needs);
// Returns the GRES of a task that suffices for each of the Pods.
std::string task_gres(const std::vector<DeviceNeeds> &pods);

} // namespace bridge
