// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t most_answers = 1000; // users write requests
constexpr std::size_t most_counts = 200;   // each of which has all Nodes

// Users write the parts, which may contain anything.
void add_part(std::string &key, char kind, const std::string &part)
{
    key += kind + std::to_string(part.size()) + ':' + part;
}

} // namespace

std::string fit_key(const DeviceRequest &request)
{
    std::string key;
    add_part(key, 'd', request.class_name);
    for (const CelSelector &selector : request.selectors)
        add_part(key, 's', selector.text());
    for (const DeviceToleration &toleration : request.tolerations)
        add_part(key, 't', toleration.json);
    for (const auto &[name, amount] : request.capacity)
        add_part(key, 'c', name + '=' + amount.text());
    return key;
}

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
    std::string key = fit_key(request);
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
    std::string key = fit_key(request);
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
