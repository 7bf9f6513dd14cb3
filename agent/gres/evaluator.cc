// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/evaluator.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

using Kind = DeviceQuestion::Kind;

// Of a device that is looked at, as steps of its selectors.
constexpr std::size_t cost_of_device = 25;
constexpr std::size_t least_cost = 1000;

// As unfit_device_reason() asks for them.
std::vector<Result<bool>> results_of(const std::vector<CelSelector> &of_class,
                                     const std::vector<CelSelector> &own,
                                     const Device &device, CelBudget &budget)
{
    std::vector<Result<bool>> results;
    for (const auto *selectors : {&of_class, &own})
        for (const CelSelector &selector : *selectors) {
            results.push_back(selector.matches_alone(device, budget));
            if (!results.back() || !*results.back())
                return results;
        }
    return results;
}

// What is known already stays, unless much of that must be of devices that are
// gone; there: how many there are. What exceeds the budget is left out, and
// asked for again; but a device that exceeds it alone is too expensive.
SelectorResults results_for(const DeviceQuestion &question, std::size_t there,
                            CelBudget &budget)
{
    SelectorResults made;
    if (question.before && question.before->devices.size() <= 2 * there)
        made = *question.before;
    for (const DevicePtr &device : question.devices) {
        auto known = made.devices.find(device->id());
        if (known != made.devices.end() &&
            known->second.device.lock() == device)
            continue;
        bool alone = budget.left() == CelSelector::max_sum;
        auto results = results_of(question.class_selectors,
                                  question.request.selectors, *device, budget);
        if (!budget.spent() || alone)
            made.devices[device->id()] = {device, std::move(results)};
        if (budget.spent())
            break;
    }
    return made;
}

} // namespace

DeviceAnswer
GresEvaluator::answer(const std::shared_ptr<const DeviceCatalog> &catalog,
                      const DeviceQuestion &question)
{
    if (catalog_ != catalog) {
        kinds_ = kinds_of(*catalog);
        devices_ = 0;
        for (const DevicePool &pool : catalog->pools)
            devices_ += pool.devices.size();
        catalog_ = catalog; // last: none of this may be missing if it throws
    }
    DeviceAnswer made;
    CelBudget budget(CelSelector::max_sum);
    std::size_t looked_at = devices_;
    if (question.kind == Kind::wish) {
        made.wish = gres_for(*catalog, kinds_, question.request, budget);
    } else if (question.kind == Kind::counts) {
        made.counts = std::make_shared<const FitCounts>(
            fit_counts(*catalog, question.request, budget));
    } else {
        looked_at = question.devices.size();
        made.results = std::make_shared<const SelectorResults>(
            results_for(question, devices_, budget));
    }
    made.cost = least_cost + looked_at * cost_of_device + CelSelector::max_sum -
                budget.left();
    return made;
}

} // namespace bridge
