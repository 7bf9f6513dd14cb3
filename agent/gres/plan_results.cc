// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/plan_results.h"

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
        const std::vector<CelSelector> &of_class = found->second.selectors;
        add(of_class, 0, results);
        add(request.selectors, of_class.size(), results);
    }
}

void PlanResults::add(const std::vector<CelSelector> &selectors,
                      std::size_t first,
                      const std::shared_ptr<const SelectorResults> &known)
{
    for (std::size_t i = 0; i < selectors.size(); i++)
        places_[&selectors[i]].push_back({known, first + i});
}

Result<bool> PlanResults::find(const CelSelector &selector,
                               const Device &device) const
{
    const DeviceId id = device.id();
    if (auto found = places_.find(&selector); found != places_.end())
        for (const Place &place : found->second) {
            auto of_it = place.known->devices.find(id);
            if (of_it == place.known->devices.end() ||
                of_it->second.results.size() <= place.index)
                continue;
            outdated_ |= of_it->second.device.get() != &device;
            return of_it->second.results[place.index];
        }
    missing_ = true;
    return fail(Code::busy, "it is not known yet which devices fit");
}

} // namespace bridge
