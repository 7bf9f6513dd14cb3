// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/cpu_choice.h"

#include "agent/claims/constraints.h"

#include <algorithm>
#include <format>
#include <optional>

namespace bridge {

namespace {

// Limit for checks of a device for a request, or against another device for a
// constraint, for a whole plan: about 30 ms. Claims that need more are given
// up.
constexpr int max_looks = 100000;

using Wanted = std::vector<const DevicesWanted *>; // of one claim, for CPUs

// The attributes by which the constraints of a claim distinguish devices. CPUs
// of the same kind are equivalent as the first one.
using Kind = std::vector<std::optional<DeviceAttribute>>;

Kind kind_of(const ResourceClaim &claim, const Device &device)
{
    Kind kind;
    for (const DeviceConstraint &constraint : claim.constraints) {
        const DeviceAttribute *value =
            attribute_of(device, constraint.attribute);
        if (!constraint.distinct)
            kind.push_back(value ? std::optional(*value) : std::nullopt);
    }
    return kind;
}

Wanted wanted_of(const DeviceNeeds &needs, std::size_t claim)
{
    Wanted wanted;
    for (const DevicesWanted &one : needs.wanted)
        if (one.claim == claim && asks_cpus(one))
            wanted.push_back(&one);
    return wanted;
}

// Sorts requests with the most selectors first: the others can use what is
// left.
Wanted in_order(Wanted wanted)
{
    std::ranges::stable_sort(wanted, std::ranges::greater{},
                             [](const DevicesWanted *one) {
                                 return one->request->selectors.size();
                             });
    return wanted;
}

bool is_picky(const DeviceNeeds &needs, std::size_t claim)
{
    return !needs.claims[claim]->constraints.empty() ||
           std::ranges::any_of(wanted_of(needs, claim),
                               [](const DevicesWanted *one) {
                                   return !one->request->selectors.empty();
                               });
}

} // namespace

bool has_cpus(const DeviceNeeds &needs, std::size_t claim)
{
    return !wanted_of(needs, claim).empty();
}

CpuChoice::CpuChoice(const DeviceNeeds &needs, const CpuOffer &offer,
                     const DeviceClasses &classes, const Node &node,
                     CelBudget &budget)
    : needs_(needs), offer_(offer), classes_(classes), node_(node),
      budget_(budget)
{
    for (std::size_t c = 0; c < needs.claims.size(); c++)
        if (has_cpus(needs, c))
            order_.push_back(c);
    std::ranges::stable_partition(
        order_, [&](std::size_t c) { return is_picky(needs, c); });
}

std::string CpuChoice::choose(std::vector<std::vector<DevicePtr>> &chosen)
{
    used_.assign(offer_.devices.size(), false);
    for (std::size_t c : order_) {
        std::vector<ChosenDevice> of_claim;
        for (std::size_t w = 0; w < needs_.wanted.size(); w++) {
            const DevicesWanted &wanted = needs_.wanted[w];
            if (wanted.claim == c && asks_cpus(wanted))
                chosen[w].clear();
            else if (wanted.claim == c)
                for (const DevicePtr &device : chosen[w])
                    of_claim.push_back({wanted.request->name, device, {}});
        }
        std::string reason = choose_for(
            *needs_.claims[c], in_order(wanted_of(needs_, c)), of_claim);
        if (!reason.empty())
            return reason;
        for (std::size_t w = 0; w < needs_.wanted.size(); w++)
            if (const DevicesWanted &wanted = needs_.wanted[w];
                wanted.claim == c && asks_cpus(wanted))
                for (const ChosenDevice &one : of_claim)
                    if (one.request == wanted.request->name)
                        chosen[w].push_back(one.device);
    }
    return {};
}

// Adds CPUs to chosen, which has the claim's other devices; no later claim gets
// these CPUs. Returns why it failed, or "".
std::string CpuChoice::choose_for(const ResourceClaim &claim,
                                  const Wanted &wanted,
                                  std::vector<ChosenDevice> &chosen)
{
    std::vector<Kind> tried;
    std::optional<Way> best;
    std::string reason;
    const DeviceRequest &first = *wanted.front()->request;
    for (std::size_t start = 0; start < used_.size(); start++) {
        if (used_[start] || !fits(first, start) ||
            !may_look(claim.constraints.size() + tried.size()))
            continue;
        Kind kind = kind_of(claim, *offer_.devices[start]);
        if (std::ranges::contains(tried, kind))
            continue;
        tried.push_back(std::move(kind));
        Way way = try_from(claim, wanted, chosen, start);
        if (!way.reason.empty())
            reason = way.reason;
        else if (!best || is_better(way, *best))
            best = std::move(way);
    }
    if (!error_.empty())
        return error_;
    if (!best)
        return reason.empty() ? no_cpu_device_reason(first) : reason;
    chosen = std::move(best->chosen);
    for (std::size_t place : best->places)
        used_[place] = true;
    return {};
}

std::string CpuChoice::no_cpu_device_reason(const DeviceRequest &request) const
{
    return std::format("Node {} has no CPU device for request {}{}{}",
                       node_.name, request.name, unfit_.empty() ? "" : ": ",
                       unfit_);
}

bool CpuChoice::may_look(std::size_t times)
{
    looks_ += static_cast<int>(times);
    if (looks_ > max_looks && error_.empty())
        error_ = "its claims are too complex";
    return error_.empty();
}

bool CpuChoice::fits(const DeviceRequest &request, std::size_t place)
{
    if (!may_look(1))
        return false;
    auto [known, is_new] = fits_.try_emplace({&request, place}, false);
    auto found = classes_.find(request.class_name);
    if (!is_new || found == classes_.end())
        return known->second;
    auto reason = unfit_device_reason(*offer_.devices[place], request,
                                      found->second, node_, budget_);
    if (!reason)
        error_ = reason.error().message;
    else if (!reason->empty())
        unfit_ = *reason;
    known->second = reason && reason->empty();
    return known->second;
}

CpuChoice::Way CpuChoice::try_from(const ResourceClaim &claim,
                                   const Wanted &wanted,
                                   const std::vector<ChosenDevice> &others,
                                   std::size_t start)
{
    Way way{others, {}, {}};
    for (const DevicesWanted *one : wanted) {
        const DeviceRequest &request = *one->request;
        std::int64_t has = 0;
        if (one == wanted.front() && take(claim, request, start, way))
            has++;
        for (std::size_t i = 0; i < used_.size() && has < one->count; i++)
            if (take(claim, request, i, way))
                has++;
        if (has < one->count) {
            way.reason =
                std::format("Node {} has {} CPU devices for request {}, "
                            "which wants {}",
                            node_.name, has, request.name, one->count);
            break;
        }
    }
    return way;
}

// Returns false if the claim cannot use the device.
bool CpuChoice::take(const ResourceClaim &claim, const DeviceRequest &request,
                     std::size_t place, Way &way)
{
    if (used_[place] || std::ranges::contains(way.places, place) ||
        !fits(request, place))
        return false;
    ChosenDevice more{request.name, offer_.devices[place], {}};
    if (!goes_with(claim, way.chosen, more, looks_))
        return false;
    way.chosen.push_back(std::move(more));
    way.places.push_back(place);
    return true;
}

// Prefers the way with fewer devices that others have, then with more of the
// job's own.
bool CpuChoice::is_better(const Way &one, const Way &other) const
{
    auto cost = [this](const Way &way) {
        auto taken = std::ranges::count_if(
            way.places, [this](std::size_t i) { return i >= offer_.free; });
        auto own = std::ranges::count_if(
            way.places, [this](std::size_t i) { return i < offer_.own; });
        return std::pair(taken, -own);
    };
    return cost(one) < cost(other);
}

} // namespace bridge
