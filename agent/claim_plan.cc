// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claim_plan.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

// Of looks at a device for a request: beyond them what a user has thought up is
// no longer worth it.
constexpr int max_steps = 2000;

// Gives the devices to requests, so that each claim is satisfied: tries all ways
// in order, devices by index.
class Search {
  public:
    Search(const PlanFacts &facts, std::vector<DevicePtr> given)
        : facts_(facts), given_(std::move(given)), used_(given_.size(), false),
          chosen_(facts.needs.wanted.size())
    {
    }

    // False: why() says what kept the last way from being one.
    bool run()
    {
        for (const DevicesWanted &wanted : facts_.needs.wanted)
            if (!look_at(wanted))
                return false;
        for (std::size_t c = 0; c < facts_.needs.claims.size(); c++)
            if (!std::ranges::contains(facts_.needs.wanted, c,
                                       &DevicesWanted::claim) &&
                !is_satisfied(c))
                return false;
        return give(0, 0, 0);
    }

    const std::string &why() const { return why_; }
    bool later() const { return later_; } // it may be one soon
    bool exceeds() const
    {
        return std::ranges::contains(used_, false);
    }

    // Of the claim, in the order of its requests.
    std::vector<ChosenDevice> chosen_for(std::size_t claim) const
    {
        std::vector<ChosenDevice> made;
        for (std::size_t w = 0; w < chosen_.size(); w++) {
            const DevicesWanted &wanted = facts_.needs.wanted[w];
            if (wanted.claim != claim)
                continue;
            for (const DevicePtr &device : chosen_[w])
                made.push_back({wanted.request->name, device, {}});
        }
        return made;
    }

  private:
    // Whether each of the devices will do, and those of adminAccess, for which
    // Slurm was not asked.
    bool look_at(const DevicesWanted &wanted)
    {
        std::vector<bool> fits;
        const DeviceRequest &request = *wanted.request;
        auto found = facts_.classes.find(request.class_name);
        if (found == facts_.classes.end()) {
            why_ = "there is no DeviceClass " + request.class_name;
            return false;
        }
        for (const DevicePtr &device : given_) {
            auto why = why_unfit(*device, request, found->second, facts_.node);
            if (!why) {
                why_ = why.error().message;
                return false;
            }
            fits.push_back(why->empty());
            if (!why->empty())
                why_ = std::format("device {} for request {}: {}",
                                   device->id().str(), request.name, *why);
        }
        fits_.push_back(std::move(fits));
        return !request.admin_access || add_uncounted(wanted, found->second);
    }

    // Whoever has them: adminAccess takes nothing away.
    bool add_uncounted(const DevicesWanted &wanted,
                       const DeviceClass &device_class)
    {
        auto &into = chosen_[fits_.size() - 1];
        for (const DevicePool &pool : facts_.pools)
            for (const DevicePtr &device : pool.devices) {
                bool enough = !wanted.request->all &&
                              std::ssize(into) >= wanted.request->count;
                if (enough || !pool.usable())
                    continue;
                if (is_of_claim(wanted.claim, device))
                    continue;
                auto why = why_unfit(*device, *wanted.request, device_class,
                                     facts_.node);
                if (!why) {
                    why_ = why.error().message;
                    return false;
                }
                if (why->empty())
                    into.push_back(device);
            }
        return true;
    }

    // It has it already, or may get it of those that were given.
    bool is_of_claim(std::size_t claim, const DevicePtr &device) const
    {
        if (std::ranges::contains(given_, device->id(), &Device::id))
            return true;
        for (std::size_t w = 0; w < chosen_.size(); w++)
            if (facts_.needs.wanted[w].claim == claim &&
                std::ranges::contains(chosen_[w], device->id(), &Device::id))
                return true;
        return false;
    }

    // The w-th request has n devices; from is the first one to look at for it.
    bool give(std::size_t w, std::int64_t n, std::size_t from)
    {
        const auto &all = facts_.needs.wanted;
        bool ends_claim = n == 0 && w > 0 &&
                          (w == all.size() || all[w].claim != all[w - 1].claim);
        if (ends_claim && !is_satisfied(all[w - 1].claim))
            return false;
        if (w == all.size())
            return true;
        if (all[w].request->admin_access || n == all[w].count)
            return give(w + 1, 0, 0);
        for (std::size_t d = from; d < given_.size(); d++) {
            if (used_[d] || !fits_[w][d])
                continue;
            if (++steps_ > max_steps) {
                why_ = "its claims are too intricate";
                return false;
            }
            used_[d] = true;
            chosen_[w].push_back(given_[d]);
            if (give(w, n + 1, d + 1))
                return true;
            chosen_[w].pop_back();
            used_[d] = false;
            if (later_)
                return false;
        }
        if (why_.empty())
            why_ = std::format("request {} gets {} devices of {}",
                               all[w].request->name, n, all[w].count);
        return false;
    }

    bool is_satisfied(std::size_t c)
    {
        const ResourceClaim &claim = *facts_.needs.claims[c];
        if (claim.allocated)
            return true;
        auto why = why_no_allocation(claim, facts_.classes, chosen_for(c),
                                     facts_.pools, facts_.node);
        if (why && why->empty())
            return true;
        why_ = std::format("ResourceClaim {}: {}", claim.key.name,
                           why ? *why : why.error().message);
        later_ = !why && why.error().code == Code::busy;
        return false;
    }

    const PlanFacts &facts_;
    std::vector<DevicePtr> given_;
    std::vector<bool> used_;              // as given_
    std::vector<std::vector<bool>> fits_; // by request, as given_
    std::vector<std::vector<DevicePtr>> chosen_; // by request
    std::string why_;
    bool later_ = false;
    int steps_ = 0;
};

// By other claims than these.
bool is_taken(const PlanFacts &facts, const Device &device)
{
    return std::ranges::all_of(
        facts.needs.claims, [&](const ResourceClaimPtr &claim) {
            return facts.holder_of(device.id(), claim->uid).has_value();
        });
}

// Those of claims that have got them for this job already are no longer there
// to be given. What others have, such as Pods of the gang that run, comes last.
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

// Why a device cannot be had now; empty: it can.
std::string why_taken(const PlanFacts &facts, const ResourceClaim &claim,
                      const std::vector<ChosenDevice> &chosen)
{
    for (const ChosenDevice &one : chosen)
        if (!is_admin(claim, one.request))
            if (auto holder = facts.holder_of(one.device->id(), claim.uid))
                return std::format("device {} is in the ResourceClaim {} still",
                                   one.device->id().str(), *holder);
    return {};
}

// Partitions of one device take from the same counters.
std::string why_no_counters(const PlanFacts &facts,
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
                return std::format("device {} shares a device that others have",
                                   device->id().str());
            taken.insert(device->name);
        }
    }
    return {};
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
    for (const ResourceClaimPtr &claim : facts.needs.claims)
        if (claim->allocated && claim->places &&
            !matches(*claim->places, facts.node)) {
            plan.misfit = std::format(
                "the devices of ResourceClaim {} are on another node",
                claim->key.name);
            return plan;
        }
    Search search(facts, still_given(facts));
    if (!search.run()) {
        (search.later() ? plan.wait : plan.misfit) =
            search.why().empty() ? "the devices are too few" : search.why();
        plan.bad_node = true;
        return plan;
    }
    if (search.exceeds() && !facts.may_exceed) {
        plan.misfit = "it has devices that no claim of the Pod needs";
        return plan;
    }
    for (std::size_t c = 0; c < facts.needs.claims.size(); c++) {
        const ResourceClaim &claim = *facts.needs.claims[c];
        ClaimPlan one{.key = claim.key,
                      .uid = claim.uid,
                      .allocated = claim.allocated,
                      .chosen = {},
                      .classes = {},
                      .has = claim.devices,
                      .pod = facts.needs.consumers[c]};
        if (!claim.allocated)
            one.chosen = search.chosen_for(c);
        auto extended = std::ranges::find(facts.needs.extended,
                                          facts.needs.claims[c],
                                          &ExtendedNeeds::claim);
        // Another Pod may name it as any other.
        if (extended != facts.needs.extended.end() &&
            claim.owner_uid == one.pod) {
            one.body = extended->body;
            one.mappings = extended->mappings;
        }
        for (const DevicesWanted &wanted : facts.needs.wanted)
            if (wanted.claim == c)
                one.classes.insert(
                    *facts.classes.find(wanted.request->class_name));
        if (plan.wait.empty())
            plan.wait = why_taken(facts, claim, one.chosen);
        plan.claims.push_back(std::move(one));
    }
    if (plan.wait.empty())
        plan.wait = why_no_counters(facts, plan.claims);
    plan.bad_node = !plan.wait.empty();
    return plan;
}

} // namespace bridge
