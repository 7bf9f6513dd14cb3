// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t most_answers = 1000; // users write requests
constexpr std::size_t most_counts = 200;   // each of which has all Nodes

// Returns all parts of the request that decide which devices fit.
std::string key_of(const DeviceRequest &request)
{
    std::string key = request.class_name;
    for (const CelSelector &selector : request.selectors)
        key += "\ns" + selector.text();
    for (const DeviceToleration &toleration : request.tolerations)
        key += "\nt" + toleration.json;
    for (const auto &[name, amount] : request.capacity)
        key += "\nc" + name + '=' + amount.text();
    return key;
}

} // namespace

GresMemo::Answer GresMemo::ask(const DeviceCatalog &catalog,
                               const DeviceRequest &request)
{
    CelBudget budget(CelSelector::max_sum);
    auto wish = bridge::gres_for(catalog, request, budget);
    return {std::move(wish), CelSelector::max_sum - budget.left()};
}

Result<GresWish>
GresMemo::gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                   const DeviceRequest &request, CelBudget &budget)
{
    turn_to(catalog);
    std::string key = key_of(request);
    // Errors contain the name of the request.
    std::string named = '\n' + request.name + '\n' + key;
    auto known = answers_.find(key);
    if (known == answers_.end())
        known = answers_.find(named);
    if (known == answers_.end()) {
        if (answers_.size() >= most_answers)
            answers_.clear();
        Answer answer = ask(*catalog, request);
        known = answers_
                    .emplace(answer.wish ? std::move(key) : std::move(named),
                             std::move(answer))
                    .first;
    }
    budget.spend(known->second.cost);
    return known->second.wish;
}

std::shared_ptr<const FitCounts>
GresMemo::counts_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                     const DeviceRequest &request, CelBudget &budget)
{
    turn_to(catalog);
    std::string key = key_of(request);
    auto known = counts_.find(key);
    if (known == counts_.end()) {
        if (counts_.size() >= most_counts)
            counts_.clear();
        CelBudget own(CelSelector::max_sum);
        auto made = std::make_shared<const FitCounts>(
            fit_counts(*catalog, request, own));
        known = counts_
                    .emplace(std::move(key),
                             Counts{std::move(made),
                                    CelSelector::max_sum - own.left()})
                    .first;
    }
    budget.spend(known->second.cost);
    return known->second.counts;
}

void GresMemo::turn_to(const std::shared_ptr<const DeviceCatalog> &catalog)
{
    if (catalog_ == catalog)
        return;
    catalog_ = catalog;
    answers_.clear();
    counts_.clear();
}

} // namespace bridge
