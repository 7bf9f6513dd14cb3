// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/cpu_devices.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace bridge {

namespace {

// Returns the part of the name before its number, the number of digits, and the
// whole name.
std::tuple<std::string_view, std::size_t, std::string_view>
sort_key(const DevicePtr &device)
{
    std::string_view name = device->name;
    std::size_t digits = 0;
    while (digits < name.size() && name[name.size() - digits - 1] >= '0' &&
           name[name.size() - digits - 1] <= '9')
        digits++;
    return {name.substr(0, name.size() - digits), digits, name};
}

} // namespace

void sort_cpus(std::vector<DevicePtr> &cpus)
{
    std::ranges::stable_sort(cpus, {}, sort_key);
}

// Other free devices are offered from the last to the first, because Slurm
// allocates the first CPUs first.
CpuOffer offer_cpus(const std::vector<DevicePtr> &cpus,
                    std::span<const std::uint32_t> ids,
                    const std::function<bool(const DeviceId &)> &is_taken)
{
    CpuOffer offer;
    std::vector<DevicePtr> taken;
    std::set<std::size_t> of_job;
    for (std::uint32_t id : ids)
        if (id < cpus.size() && of_job.insert(id).second)
            (is_taken(cpus[id]->id()) ? taken : offer.devices)
                .push_back(cpus[id]);
    offer.own = offer.devices.size();
    for (std::size_t i = cpus.size(); i-- > 0;)
        if (!of_job.contains(i))
            (is_taken(cpus[i]->id()) ? taken : offer.devices)
                .push_back(cpus[i]);
    offer.free = offer.devices.size();
    offer.devices.insert(offer.devices.end(), taken.begin(), taken.end());
    return offer;
}

} // namespace bridge
