// SPDX-License-Identifier: GPL-2.0-or-later
// What messages about devices change, and whom else they concern.
#include "agent/owner/bridge.h"

#include <utility>

namespace bridge {

void Bridge::on(Listed<ResourceSlice> &slices)
{
    devices_.replace(std::move(slices.objects));
}

void Bridge::on(Changed<ResourceSlice> &slice)
{
    devices_.put(std::move(slice.object), slice.deleted);
}

void Bridge::on(Listed<DeviceClass> &classes)
{
    devices_.replace(std::move(classes.objects));
}

void Bridge::on(Changed<DeviceClass> &device_class)
{
    devices_.put(std::move(device_class.object), device_class.deleted);
}

void Bridge::on(Listed<ResourceClaim> &claims)
{
    devices_.replace(std::move(claims.objects));
    shared_claims_.claims_listed();
    attempts_.all_again();
}

void Bridge::on(Changed<ResourceClaim> &claim)
{
    agenda_.wake(devices_.put(std::move(claim.object), claim.deleted));
}

} // namespace bridge
