// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_plan.h"

#include "agent/gres/claim_search.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

// Returns true if a claim outside the needs has the device.
bool is_taken(const PlanFacts &facts, const Device &device)
{
    return std::ranges::all_of(
        facts.needs.claims, [&](const ResourceClaimPtr &claim) {
            return facts.holder_of(device.id(), claim->uid).has_value();
        });
}

// Returns the devices of the job that can still be assigned. Devices that
// claims have already got for this job are left out; those that others have,
// such as running Pods of the gang, come last.
std::vector<DevicePtr> still_given(const PlanFacts &facts)
{
    std::vector<DevicePtr> given = facts.given;
    const DeviceNeeds &needs = facts.needs;
    for (std::size_t c = 0; c < needs.claims.size(); c++)
        if (needs.claims[c]->is_reserved_for(needs.consumers[c]))
            std::erase_if(given, [&](const DevicePtr &device) {
                return std::ranges::contains(needs.claims[c]->devices,
                                             device->id());
            });
    std::ranges::stable_partition(given, [&](const DevicePtr &device) {
        return !is_taken(facts, *device);
    });
    return given;
}

bool is_admin(const ResourceClaim &claim, const std::string &request)
{
    const DeviceRequest *found = find_request(claim, request);
    return found && found->admin_access;
}

// Returns why a chosen device is not available now, or "".
std::string taken_device_reason(const PlanFacts &facts,
                                const ResourceClaim &claim,
                                const std::vector<ChosenDevice> &chosen)
{
    for (const ChosenDevice &one : chosen)
        if (!is_admin(claim, one.request) && one.share_id.empty())
            if (auto holder = facts.holder_of(one.device->id(), claim.uid))
                return std::format(
                    "device {} is still taken by the ResourceClaim {}",
                    one.device->id().str(), *holder);
    return {};
}

// Returns why the counters of a pool do not suffice, or "": partitions of one
// device take from the same counters.
std::string no_counters_reason(const PlanFacts &facts,
                               const std::vector<ClaimPlan> &claims)
{
    for (const DevicePool &pool : facts.pools) {
        std::vector<DevicePtr> ours;
        for (const ClaimPlan &claim : claims)
            for (const ChosenDevice &one : claim.chosen)
                if (one.device->driver == pool.driver &&
                    one.device->pool == pool.name &&
                    !one.device->consumes.empty())
                    ours.push_back(one.device);
        if (ours.empty())
            continue;
        std::set<std::string> taken = facts.taken_in(pool);
        for (const DevicePtr &device : ours)
            taken.erase(device->name);
        for (const DevicePtr &device : ours) {
            if (!counters_suffice(*device, counters_left(pool, taken)))
                return std::format("device {} needs counters of its pool that "
                                   "other claims use",
                                   device->id().str());
            taken.insert(device->name);
        }
    }
    return {};
}

// Returns why the job has less of a GRES than its devices need, or "". This
// happens if the job was requested before the GRES was counted.
std::string too_little_gres_reason(const PlanFacts &facts,
                                   const GresCounts &chosen)
{
    for (const auto &[gres, has] : facts.amounts)
        if (auto found = chosen.find(gres);
            found != chosen.end() && found->second > has)
            return std::format("it has {} of GRES {}, but its devices need {}",
                               has, gres, found->second);
    return {};
}

// Returns what the claim consumes of devices of which it gets shares.
std::map<DeviceId, Capacities>
shares_in(const ResourceClaim &claim, const std::vector<ChosenDevice> &chosen)
{
    std::map<DeviceId, Capacities> made;
    for (const ChosenDevice &one : chosen) {
        const DeviceRequest *request = find_request(claim, one.request);
        if (!request || request->admin_access || one.share_id.empty())
            continue;
        if (auto consumed = consumed_capacity(*one.device, *request))
            add_capacities(made[one.device->id()], *consumed);
    }
    return made;
}

// Returns which allocated claim has devices that the node cannot reach, or "".
std::string elsewhere_reason(const PlanFacts &facts)
{
    for (const ResourceClaimPtr &claim : facts.needs.claims)
        if (claim->allocated && claim->places &&
            !matches(*claim->places, facts.node))
            return std::format(
                "the devices of ResourceClaim {} are on another node",
                claim->key.name);
    return {};
}

// Returns the write for the claim at index c of the needs.
ClaimPlan plan_claim(const PlanFacts &facts, const ClaimSearch &search,
                     std::size_t c)
{
    const ResourceClaim &claim = *facts.needs.claims[c];
    ClaimPlan one{.key = claim.key,
                  .uid = claim.uid,
                  .allocated = claim.allocated,
                  .chosen = {},
                  .classes = {},
                  .has = claim.devices,
                  .pod = facts.needs.consumers[c]};
    if (!claim.allocated) {
        one.chosen = search.chosen_for(c);
        one.text = claim.text;
    }
    one.shares = shares_in(claim, one.chosen);
    auto extended = std::ranges::find(
        facts.needs.extended, facts.needs.claims[c], &ExtendedNeeds::claim);
    // Another Pod may use it like any other claim.
    if (extended != facts.needs.extended.end() && claim.owner_uid == one.pod) {
        one.body = extended->body;
        one.mappings = extended->mappings;
    }
    for (const DevicesWanted &wanted : facts.needs.wanted)
        if (wanted.claim == c)
            one.classes.insert(*facts.classes.find(wanted.request->class_name));
    return one;
}

} // namespace

std::vector<DeviceId> ClaimPlan::devices() const
{
    std::vector<DeviceId> made;
    for (const ChosenDevice &one : chosen)
        made.push_back(one.device->id());
    return made;
}

ClaimsPlan plan_claims(const PlanFacts &facts)
{
    ClaimsPlan plan;
    plan.misfit = elsewhere_reason(facts);
    if (!plan.misfit.empty())
        return plan;
    ClaimSearch search(facts, still_given(facts));
    bool found = search.run();
    plan.cost = search.cost();
    if (!found) {
        (search.later() ? plan.wait : plan.misfit) =
            search.reason().empty() ? "there are too few devices"
                                    : search.reason();
        plan.bad_node = true;
        return plan;
    }
    if (std::string reason = too_little_gres_reason(facts, search.amounts());
        !reason.empty()) {
        plan.misfit = reason;
        plan.bad_node = true;
        return plan;
    }
    if (search.exceeds() && !facts.may_exceed) {
        plan.misfit = "it has devices that no claim of the Pod needs";
        return plan;
    }
    for (std::size_t c = 0; c < facts.needs.claims.size(); c++) {
        ClaimPlan one = plan_claim(facts, search, c);
        if (plan.wait.empty())
            plan.wait =
                taken_device_reason(facts, *facts.needs.claims[c], one.chosen);
        plan.claims.push_back(std::move(one));
    }
    if (plan.wait.empty())
        plan.wait = no_counters_reason(facts, plan.claims);
    plan.bad_node = !plan.wait.empty();
    return plan;
}

} // namespace bridge
