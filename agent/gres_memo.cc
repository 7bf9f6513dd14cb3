// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres_memo.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t most_answers = 1000; // users write requests
constexpr std::size_t most_counts = 200;   // each of which has all Nodes

// All of it that decides which devices fit.
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

Result<GresWish>
GresMemo::gres_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                   const DeviceRequest &request)
{
    turn_to(catalog);
    std::string key = key_of(request);
    if (auto known = wishes_.find(key); known != wishes_.end())
        return known->second;
    // The request's name is in what is said where there is no wish.
    std::string named = request.name + '\n' + key;
    if (auto known = errors_.find(named); known != errors_.end())
        return std::unexpected(known->second);
    if (wishes_.size() + errors_.size() >= most_answers) {
        wishes_.clear();
        errors_.clear();
    }
    auto answer = bridge::gres_for(*catalog, request);
    if (answer)
        wishes_.emplace(std::move(key), *answer);
    else
        errors_.emplace(std::move(named), answer.error());
    return answer;
}

std::shared_ptr<const FitCounts>
GresMemo::counts_for(const std::shared_ptr<const DeviceCatalog> &catalog,
                     const DeviceRequest &request)
{
    turn_to(catalog);
    std::string key = key_of(request);
    if (auto known = counts_.find(key); known != counts_.end())
        return known->second;
    if (counts_.size() >= most_counts)
        counts_.clear();
    auto made =
        std::make_shared<const FitCounts>(fit_counts(*catalog, request));
    counts_.emplace(std::move(key), made);
    return made;
}

void GresMemo::turn_to(const std::shared_ptr<const DeviceCatalog> &catalog)
{
    if (catalog_ == catalog)
        return;
    catalog_ = catalog;
    wishes_.clear();
    errors_.clear();
    counts_.clear();
}

} // namespace bridge
