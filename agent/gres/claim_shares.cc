// SPDX-License-Identifier: GPL-2.0-or-later
// The part of ClaimSearch that computes what is left of shared devices.
#include "agent/gres/claim_search.h"

#include <format>

namespace bridge {

namespace {

// Returns the amounts by which these exceed those.
Capacities beyond(const Capacities &these, const Capacities &those)
{
    Capacities more;
    for (const auto &[name, amount] : these) {
        auto other = those.find(name);
        WideInt left =
            amount.nanos() - (other == those.end() ? 0 : other->second.nanos());
        if (left > 0)
            more.emplace(name, Quantity(left, amount.format()));
    }
    return more;
}

} // namespace

// Returns the offer of a shared device. What the claims of these needs consume
// is not counted, since it is chosen again.
ClaimSearch::Offer ClaimSearch::share_of(const DevicePtr &device) const
{
    std::set<std::string> ours;
    for (const ResourceClaimPtr &claim : facts_.needs.claims)
        if (!claim->allocated)
            ours.insert(claim->uid);
    Offer made{device, true};
    if (!facts_.consumed_of)
        return made;
    auto consumed = facts_.consumed_of(device->id(), ours);
    made.used = !consumed;
    made.consumed = consumed.value_or(Capacities{});
    if (consumed && facts_.consumed_of(device->id(), {}) != consumed)
        record_held_capacity(made, ours);
    return made;
}

// Notes what is held for the claims of these needs. A claim without an
// allocation can only consume through a hold.
void ClaimSearch::record_held_capacity(Offer &offer,
                                       const std::set<std::string> &ours) const
{
    const Device &device = *offer.device;
    for (std::size_t c = 0; c < facts_.needs.claims.size(); c++) {
        std::set<std::string> others = ours;
        if (others.erase(facts_.needs.claims[c]->uid) == 0)
            continue;
        auto with_it = facts_.consumed_of(device.id(), others);
        Capacities &held = offer.held[c];
        if (with_it)
            held = beyond(*with_it, offer.consumed);
        else
            for (const auto &[name, capacity] : device.capacity)
                held[name] = capacity.value; // all of it
    }
}

// Returns what the claim cannot have of the device: what others have or may
// have.
Capacities ClaimSearch::gone_for(const Offer &offer, std::size_t claim)
{
    Capacities gone = offer.consumed;
    for (const auto &[other, held] : offer.held) {
        auto chosen = offer.chosen.find(other);
        if (other != claim)
            add_capacities(gone, chosen == offer.chosen.end()
                                     ? held
                                     : beyond(held, chosen->second));
    }
    return gone;
}

bool ClaimSearch::has_room(const Offer &offer, const DevicesWanted &wanted)
{
    if (!offer.shared)
        return !offer.used;
    const Device &device = *offer.device;
    const DeviceRequest &request = *wanted.request;
    auto more = consumed_capacity(device, request);
    std::string lacks = "anything";
    if (more)
        lacks =
            offer.held.empty()
                ? short_capacity(device, offer.consumed, *more)
                : short_capacity(device, gone_for(offer, wanted.claim), *more);
    if (!offer.used && lacks.empty())
        return true;
    crowded_ = true;
    reason_ = std::format(
        "device {} for request {}: other claims use too much of "
        "its {}",
        device.id().str(), request.name, offer.used ? "shares" : lacks);
    return false;
}

void ClaimSearch::take(Offer &offer, const DevicesWanted &wanted)
{
    auto more = consumed_capacity(*offer.device, *wanted.request);
    if (offer.shared && more) {
        add_capacities(offer.consumed, *more);
        add_capacities(offer.chosen[wanted.claim], *more);
    } else {
        offer.used = true;
    }
}

} // namespace bridge
