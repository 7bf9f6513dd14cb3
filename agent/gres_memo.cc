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
    if (answers_.size() >= most_answers)
        answers_.clear();
    // With its name, which is in what gres_for() says.
    std::string key = request.name + '\n' + key_of(request);
    auto known = answers_.find(key);
    if (known == answers_.end())
        known = answers_
                    .emplace(std::move(key), bridge::gres_for(*catalog, request))
                    .first;
    return known->second;
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
    answers_.clear();
    counts_.clear();
}

} // namespace bridge
