// SPDX-License-Identifier: GPL-2.0-or-later
// Devices: what the watches report, for the sync of nodes to count.
#include "agent/owner/bridge.h"

namespace bridge {

void Bridge::on(Listed<ResourceSlice> &slices)
{
    devices_.replace(std::move(slices.objects));
    sync_.change_soon();
}

void Bridge::on(Changed<ResourceSlice> &slice)
{
    context_.health.count("resourceslice");
    devices_.put(std::move(slice.object), slice.deleted);
    sync_.change_soon();
}

void Bridge::on(Listed<DeviceClass> &classes)
{
    devices_.replace(std::move(classes.objects));
    sync_.change_soon();
}

void Bridge::on(Changed<DeviceClass> &device_class)
{
    devices_.put(std::move(device_class.object), device_class.deleted);
    sync_.change_soon();
}

} // namespace bridge
