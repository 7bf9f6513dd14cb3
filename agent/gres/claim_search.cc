// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_search.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

// Limit for checks of a device for a request; claims that need more are given
// up.
constexpr int max_steps = 2000;
constexpr int cpu_steps = 100; // that a choice of CPUs counts as
// Such a check, and that of a whole claim, as steps of selectors.
constexpr std::size_t cost_of_step = 50;
constexpr std::size_t cost_of_claim = 200;

// Returns true if everything that a share of the device consumes was requested
// from Slurm, as far as this node counts it. Every node counts CPUs.
bool is_asked_for(const PlanFacts &facts, const Device &device,
                  const DevicesWanted &wanted)
{
    auto consumed = consumed_capacity(device, *wanted.request);
    if (!consumed)
        return false;
    for (const auto &[gres, amount] :
         amounts_of_share(device, *consumed, facts.counted)) {
        auto asked = wanted.wish.amounts.find(gres);
        bool enough =
            asked != wanted.wish.amounts.end() && amount <= asked->second;
        if (!enough && (gres == cpu_gres || facts.amounts.contains(gres)))
            return false;
    }
    return true;
}

} // namespace

ClaimSearch::ClaimSearch(const PlanFacts &facts,
                         const std::vector<DevicePtr> &given)
    : facts_(facts), budget_(facts.max_cost, facts.results),
      cpus_(facts.needs, facts.cpus, facts.classes, facts.node, budget_),
      chosen_(facts.needs.wanted.size())
{
    for (const DevicePtr &device : given)
        offers_.push_back({device});
    bool any_share = std::ranges::any_of(facts.needs.wanted, is_share);
    for (const DevicePool &pool : facts.pools)
        for (const DevicePtr &device : pool.devices)
            if (any_share && pool.usable() && is_on(*device, facts.node) &&
                has_counted_shares(*device, facts.counted))
                offers_.push_back(share_of(device));
}

bool ClaimSearch::run()
{
    for (const DevicesWanted &wanted : facts_.needs.wanted)
        if (!compute_fits(wanted))
            return false;
    for (std::size_t c = 0; c < facts_.needs.claims.size(); c++)
        if (!std::ranges::contains(facts_.needs.wanted, c,
                                   &DevicesWanted::claim) &&
            !is_satisfied(c))
            return false;
    return give(0, 0, 0);
}

bool ClaimSearch::proves_none() const
{
    return !later() && steps_ <= max_steps && !budget_.spent();
}

bool ClaimSearch::exceeds() const
{
    return std::ranges::any_of(offers_, [](const Offer &offer) {
        return !offer.shared && !offer.used;
    });
}

GresCounts ClaimSearch::amounts() const
{
    GresCounts sum;
    for (std::size_t w = 0; w < chosen_.size(); w++) {
        const DeviceRequest &request = *facts_.needs.wanted[w].request;
        if (request.admin_access)
            continue;
        for (const DevicePtr &device : chosen_[w]) {
            add_amounts(sum, amounts_of_partition(*device, facts_.counted));
            if (auto consumed = consumed_capacity(*device, request);
                consumed && device->allow_multiple_allocations)
                add_amounts(
                    sum, amounts_of_share(*device, *consumed, facts_.counted));
        }
    }
    return sum;
}

std::vector<ChosenDevice> ClaimSearch::chosen_for(std::size_t claim) const
{
    std::vector<ChosenDevice> made;
    for (std::size_t w = 0; w < chosen_.size(); w++) {
        const DevicesWanted &wanted = facts_.needs.wanted[w];
        if (wanted.claim != claim)
            continue;
        for (const DevicePtr &device : chosen_[w])
            made.push_back({wanted.request->name, device,
                            device->allow_multiple_allocations
                                ? facts_.new_share_id()
                                : std::string()});
    }
    return made;
}

bool ClaimSearch::is_share(const DevicesWanted &wanted)
{
    return !wanted.request->admin_access && wanted.wish.gres.empty();
}

// Checks which devices fit the request. Also chooses the devices of
// adminAccess, which were not requested from Slurm.
bool ClaimSearch::compute_fits(const DevicesWanted &wanted)
{
    std::vector<bool> fits;
    const DeviceRequest &request = *wanted.request;
    auto found = facts_.classes.find(request.class_name);
    if (found == facts_.classes.end()) {
        reason_ = "there is no DeviceClass " + request.class_name;
        return false;
    }
    if (asks_cpus(wanted)) { // none of these
        fits_.emplace_back(offers_.size(), false);
        return true;
    }
    for (const Offer &offer : offers_) {
        const DevicePtr &device = offer.device;
        bool by_index = !device->allow_multiple_allocations;
        if (offer.shared != is_share(wanted) || offer.shared == by_index) {
            fits.push_back(false); // Slurm did not count it for this one
            continue;
        }
        auto reason = unfit_device_reason(*device, request, found->second,
                                          facts_.node, budget_);
        if (reason && reason->empty() && offer.shared &&
            !is_asked_for(facts_, *device, wanted))
            reason = "its share consumes more than was requested from Slurm";
        if (!reason) {
            reason_ = reason.error().message;
            return false;
        }
        fits.push_back(reason->empty());
        if (!reason->empty())
            reason_ = std::format("device {} for request {}: {}",
                                  device->id().str(), request.name, *reason);
    }
    fits_.push_back(std::move(fits));
    return !request.admin_access || add_uncounted(wanted, found->second);
}

// Chooses devices for adminAccess, also those that other claims have, since
// adminAccess takes nothing away.
bool ClaimSearch::add_uncounted(const DevicesWanted &wanted,
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
            auto reason = unfit_device_reason(
                *device, *wanted.request, device_class, facts_.node, budget_);
            if (!reason) {
                reason_ = reason.error().message;
                return false;
            }
            if (reason->empty())
                into.push_back(device);
        }
    return true;
}

// Returns true if the claim has the device already, or may get it from the
// job's devices.
bool ClaimSearch::is_of_claim(std::size_t claim, const DevicePtr &device) const
{
    if (std::ranges::any_of(offers_, [&](const Offer &offer) {
            return !offer.shared && offer.device->id() == device->id();
        }))
        return true;
    for (std::size_t w = 0; w < chosen_.size(); w++)
        if (facts_.needs.wanted[w].claim == claim &&
            std::ranges::contains(chosen_[w], device->id(), &Device::id))
            return true;
    return false;
}

// Chooses devices for the w-th request, which has n already, beginning at offer
// from; then for the requests after it.
bool ClaimSearch::give(std::size_t w, std::int64_t n, std::size_t from)
{
    const auto &all = facts_.needs.wanted;
    bool ends_claim = n == 0 && w > 0 &&
                      (w == all.size() || all[w].claim != all[w - 1].claim);
    if (ends_claim && !has_cpus(facts_.needs, all[w - 1].claim) &&
        !is_satisfied(all[w - 1].claim))
        return false;
    if (w == all.size())
        return give_cpus();
    if (all[w].request->admin_access || asks_cpus(all[w]) || n == all[w].count)
        return give(w + 1, 0, 0);
    for (std::size_t d = from; d < offers_.size(); d++) {
        if (!fits_[w][d] || !has_room(offers_[d], all[w]))
            continue;
        if (++steps_ > max_steps || !budget_.spend(cost_of_step)) {
            reason_ = "its claims are too complex";
            return false;
        }
        Offer before = offers_[d];
        take(offers_[d], all[w]);
        chosen_[w].push_back(before.device);
        if (give(w, n + 1, d + 1))
            return true;
        chosen_[w].pop_back();
        offers_[d] = std::move(before);
        if (later_ || budget_.spent())
            return false;
    }
    if (reason_.empty())
        reason_ = std::format("request {} gets {} of {} devices",
                              all[w].request->name, n, all[w].count);
    return false;
}

bool ClaimSearch::give_cpus()
{
    const DeviceNeeds &needs = facts_.needs;
    if (std::ranges::none_of(needs.wanted, asks_cpus))
        return true;
    steps_ += cpu_steps;
    reason_ = steps_ > max_steps ? "its claims are too complex"
                                 : cpus_.choose(chosen_);
    if (!reason_.empty())
        return false;
    for (std::size_t c = 0; c < needs.claims.size(); c++)
        if (has_cpus(needs, c) && !is_satisfied(c))
            return false;
    return true;
}

bool ClaimSearch::is_satisfied(std::size_t c)
{
    const ResourceClaim &claim = *facts_.needs.claims[c];
    if (claim.allocated)
        return true;
    budget_.spend(cost_of_claim);
    auto reason = no_allocation_reason(claim, facts_.classes, chosen_for(c),
                                       facts_.pools, facts_.node, budget_);
    if (reason && reason->empty())
        return true;
    reason_ = std::format("ResourceClaim {}: {}", claim.key.name,
                          reason ? *reason : reason.error().message);
    later_ = !reason && reason.error().code == Code::busy;
    return false;
}

} // namespace bridge
