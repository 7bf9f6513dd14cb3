// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/plan_results.h"

#include <utility>

namespace bridge {

void PlanResults::add(const std::vector<DevicesWanted> &wanted,
                      const DeviceClasses &classes, const Known &known)
{
    for (const DevicesWanted &one : wanted) {
        const DeviceRequest &request = *one.request;
        auto found = classes.find(request.class_name);
        if (found == classes.end() || !seen_.insert(&request).second)
            continue;
        auto results = known(request, found->second);
        if (!results)
            continue;
        Source &source = sources_[results.get()];
        source.known = std::move(results);
        const std::vector<CelSelector> &of_class = found->second.selectors;
        add(of_class, 0, source);
        add(request.selectors, of_class.size(), source);
    }
}

// Many requests say the same, and have the same class.
void PlanResults::add(const std::vector<CelSelector> &selectors,
                      std::size_t first, Source &source)
{
    for (std::size_t i = 0; i < selectors.size(); i++) {
        std::vector<Place> &places = places_[&selectors[i]];
        if (places.empty() || places.back().source != &source)
            places.push_back({&source, first + i});
    }
}

// What was known of the device as it was before is not known of this one.
PlanResults::Found PlanResults::look_up(Source &source, const Device &device)
{
    auto [found, is_new] = source.found.try_emplace(&device);
    if (!is_new)
        return found->second;
    auto known = source.known->devices.find(device.id());
    if (known != source.known->devices.end() &&
        known->second.device.lock().get() == &device)
        found->second = &known->second;
    return found->second;
}

Result<bool> PlanResults::find(const CelSelector &selector,
                               const Device &device) const
{
    if (auto places = places_.find(&selector); places != places_.end())
        for (const Place &place : places->second)
            if (Found found = look_up(*place.source, device);
                found && found->results.size() > place.index)
                return found->results[place.index];
    missing_ = true;
    return fail(Code::busy, "it is not known yet which devices fit");
}

} // namespace bridge
