// SPDX-License-Identifier: GPL-2.0-or-later
// What messages about devices change, and whom else they concern.
#include "agent/owner/owner.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr char claims_problem[] = "ResourceClaims";

// Whether a Pod of ours that is not over has devices, as far as is known.
bool any_has_devices(const OwnerParts &parts)
{
    const ClaimStore &claims = parts.devices.claims();
    auto has_some = [&](const PodPtr &pod) {
        return !pod->terminal() &&
               std::ranges::any_of(
                   pod->resource_claims, [&](const PodClaim &one) {
                       auto claim = claims.find({pod->key.ns, one.claim});
                       return claim && claim->is_reserved_for(pod->uid);
                   });
    };
    return std::ranges::any_of(parts.gangs.all(), [&](const auto &known) {
        return std::ranges::any_of(known.second.gang.pods, has_some);
    });
}

} // namespace

void Owner::on(Listed<ResourceSlice> &slices)
{
    to_.devices.replace(std::move(slices.objects));
}

void Owner::on(Changed<ResourceSlice> &slice)
{
    to_.devices.put(std::move(slice.object), slice.deleted);
}

void Owner::on(Listed<DeviceClass> &classes)
{
    to_.devices.replace(std::move(classes.objects));
}

void Owner::on(Changed<DeviceClass> &device_class)
{
    to_.devices.put(std::move(device_class.object), device_class.deleted);
}

// A server that has lost its claims, or a proxy in front of it, lists none, and
// all devices would seem free. The reflector lists again each minute.
void Owner::on(Listed<ResourceClaim> &claims)
{
    if (claims.objects.empty() && any_has_devices(to_)) {
        to_.context.health.problem(
            claims_problem, "Kubernetes lists no ResourceClaim at all any "
                            "more, and Pods use some: no device is taken for "
                            "free");
        return;
    }
    to_.context.health.solved(claims_problem);
    to_.devices.replace(std::move(claims.objects));
    to_.shared_claims.claims_listed();
    to_.attempts.all_again();
}

void Owner::on(Changed<ResourceClaim> &claim)
{
    to_.agenda.wake(to_.devices.put(std::move(claim.object), claim.deleted));
}

} // namespace bridge
