// SPDX-License-Identifier: GPL-2.0-or-later
// What messages about devices change, and whom else they concern.
#include "agent/owner/owner.h"

#include <utility>

namespace bridge {

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

void Owner::on(Listed<ResourceClaim> &claims)
{
    to_.devices.replace(std::move(claims.objects));
    to_.shared_claims.claims_listed();
    to_.attempts.all_again();
}

void Owner::on(Changed<ResourceClaim> &claim)
{
    to_.agenda.wake(to_.devices.put(std::move(claim.object), claim.deleted));
}

} // namespace bridge
