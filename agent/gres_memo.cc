// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres_memo.h"

namespace bridge {

namespace {

constexpr std::size_t most_answers = 1000; // users write requests

// All of it that gres_for() looks at, and its name, which is in what it says.
std::string key_of(const DeviceRequest &request)
{
    std::string key = request.name + '\n' + request.class_name;
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
    if (catalog_ != catalog || answers_.size() >= most_answers)
        answers_.clear();
    catalog_ = catalog;
    std::string key = key_of(request);
    auto known = answers_.find(key);
    if (known == answers_.end())
        known = answers_
                    .emplace(std::move(key), bridge::gres_for(*catalog, request))
                    .first;
    return known->second;
}

} // namespace bridge
