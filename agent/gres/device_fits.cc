// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/device_fits.h"

#include "agent/gres/claim_search.h"

#include <algorithm>

namespace bridge {

namespace {

using Pools = std::vector<DevicePool>;

// The devices of a Node that fit a request.
struct Fitting {
    std::int64_t count = 0;
    bool shared = false;  // claims can have shares of one
    bool unclear = false; // some device could not be checked
};

// Null: there is none, or it is not supported.
const DeviceClass *class_of(const DeviceClasses &classes,
                            const DeviceRequest &request)
{
    auto found = classes.find(request.class_name);
    return found == classes.end() || !found->second.unfit_reason.empty()
               ? nullptr
               : &found->second;
}

// Slurm gives out only what it counts; adminAccess may have any device.
Fitting fitting(const Pools &pools, const DeviceRequest &request,
                const DeviceClass &device_class, CelBudget &budget)
{
    Fitting made;
    for (const DevicePool &pool : pools)
        for (const DevicePtr &device : pool.devices) {
            if (!request.admin_access && !is_countable(*device))
                continue;
            auto reason =
                unfit_device_reason(*device, request, device_class, budget);
            if (budget.spent())
                return made;
            made.unclear |= !reason;
            if (!reason || !reason->empty())
                continue;
            made.count++;
            made.shared |= device->allow_multiple_allocations;
        }
    return made;
}

bool are_enough(const Fitting &fits, const DevicesWanted &wanted)
{
    bool some = wanted.request->admin_access && wanted.request->all;
    return fits.shared || fits.count >= (some ? 1 : wanted.count);
}

// Returns true if the devices must be looked at together, and can be.
bool needs_search(const DeviceNeeds &needs)
{
    bool together = needs.wanted.size() > 1 ||
                    std::ranges::any_of(needs.claims, [](const auto &claim) {
                        return !claim->constraints.empty();
                    });
    return together &&
           std::ranges::none_of(needs.wanted, [](const DevicesWanted &one) {
               return one.request->admin_access || asks_cpus(one);
           });
}

// Returns false if no choice of the Node's devices satisfies the claims.
bool can_choose(const DeviceNeeds &needs, const Pools &pools,
                const DeviceCatalog &catalog, const Node &node,
                CelBudget &budget)
{
    std::vector<DevicePtr> given;
    for (const DevicePool &pool : pools)
        for (const DevicePtr &device : pool.devices)
            if (is_countable(*device) && !device->allow_multiple_allocations)
                given.push_back(device);
    PlanFacts facts{
        .needs = needs,
        .given = given,
        .may_exceed = true,
        .classes = catalog.classes,
        .pools = pools,
        .node = node,
        .holder_of =
            [](const DeviceId &, const std::string &) {
                return std::optional<std::string>();
            },
        .taken_in = [](const DevicePool &) { return std::set<std::string>(); },
        .counted = catalog.counted,
        .consumed_of =
            [](const DeviceId &, const std::set<std::string> &) {
                return std::optional(Capacities{});
            },
        .new_share_id = [] { return std::string("any"); },
        .max_cost = budget.left()};
    ClaimSearch search(facts, given);
    bool found = search.run();
    bool none = !found && search.proves_none();
    budget.spend(search.cost());
    return !none;
}

// Returns false only if these needs can never be satisfied there.
bool can_satisfy_one(const DeviceNeeds &needs, const Pools &pools,
                     const DeviceCatalog &catalog, const Node &node,
                     CelBudget &budget)
{
    bool unclear = false;
    for (const DevicesWanted &wanted : needs.wanted) {
        const DeviceClass *of_it = class_of(catalog.classes, *wanted.request);
        if (!of_it)
            return true; // the Pod waits for the class
        Fitting fits = fitting(pools, *wanted.request, *of_it, budget);
        if (budget.spent())
            return true;
        if (!are_enough(fits, wanted))
            return false;
        unclear |= fits.unclear;
    }
    return unclear || !needs_search(needs) ||
           can_choose(needs, pools, catalog, node, budget);
}

std::string classes_text(const DeviceAsk &ask, const DeviceClasses &classes)
{
    std::string text;
    for (const DeviceNeeds &needs : ask.any_of)
        for (const DevicesWanted &wanted : needs.wanted) {
            const DeviceClass *of_it = class_of(classes, *wanted.request);
            text += of_it ? "class" : "none";
            if (of_it)
                for (const CelSelector &selector : of_it->selectors)
                    text += std::to_string(selector.text().size()) + ':' +
                            selector.text();
        }
    return text;
}

} // namespace

NodePools::NodePools(std::shared_ptr<const DeviceCatalog> catalog)
    : catalog_(std::move(catalog))
{
    const std::vector<DevicePool> &pools = catalog_->pools;
    for (std::size_t i = 0; i < pools.size(); i++)
        for (const DevicePtr &device : pools[i].devices) {
            const DeviceScope *scope = device->scope.get();
            bool one = scope && scope->kind == DeviceScope::Kind::node;
            auto &into = one ? places_[scope->node] : of_several_;
            into.push_back({i, device});
        }
}

NodePools::ByPool NodePools::devices_on(const Node &node) const
{
    ByPool devices;
    if (auto here = places_.find(node.name); here != places_.end())
        for (const Place &place : here->second)
            devices[place.pool].push_back(place.device);
    for (const Place &place : of_several_)
        if (is_on(*place.device, node))
            devices[place.pool].push_back(place.device);
    return devices;
}

std::vector<DevicePool> NodePools::all_on(const Node &node) const
{
    std::vector<DevicePool> made;
    for (auto &[i, there] : devices_on(node)) {
        const DevicePool &pool = catalog_->pools[i];
        made.push_back({pool.driver,
                        pool.name,
                        pool.generation,
                        pool.complete,
                        pool.unfit_reason,
                        {},
                        pool.counters});
        if (pool.counters.empty())
            made.back().devices = std::move(there);
        else
            made.back().devices = pool.devices;
    }
    return made;
}

NodePools::OnNode NodePools::on(const Node &node) const
{
    OnNode made;
    for (auto &[i, there] : devices_on(node)) {
        const DevicePool &pool = catalog_->pools[i];
        if (pool.usable())
            made.pools.push_back({pool.driver,
                                  pool.name,
                                  pool.generation,
                                  true,
                                  {},
                                  std::move(there),
                                  pool.counters});
        else
            made.doubtful = true;
    }
    return made;
}

void DeviceFits::turn_to(const std::shared_ptr<const DeviceCatalog> &catalog)
{
    if (pools_.catalog() != catalog.get())
        pools_ = catalog ? NodePools(catalog) : NodePools();
    std::erase_if(asked_, [](const auto &one) { return !one.second.used; });
    std::erase_if(seen_, [this](const auto &one) {
        return !stocks_.contains(one.first);
    });
    stocks_.clear();
    budget_ = CelBudget(max_of_all);
    for (auto &[text, asked] : asked_) {
        asked.used = false;
        asked.budget = CelBudget(max_of_one);
    }
}

// A device is the same object for as long as nobody changes its slice.
const DeviceFits::Stock &DeviceFits::stock_on(const Node &node)
{
    auto [stock, is_new] = stocks_.try_emplace(node.name);
    if (!is_new)
        return stock->second;
    stock->second.there = pools_.on(node);
    std::vector<DevicePtr> devices;
    for (const DevicePool &pool : stock->second.there.pools)
        devices.insert(devices.end(), pool.devices.begin(), pool.devices.end());
    Seen &seen = seen_[node.name];
    if (seen.version == 0 || seen.devices != devices)
        seen = {std::move(devices), ++versions_};
    stock->second.version = seen.version;
    return stock->second;
}

DeviceFits::Asked &DeviceFits::asked_for(const DeviceCondition &condition)
{
    Asked &asked = asked_[condition.text];
    if (asked.used)
        return asked;
    asked.used = true;
    std::string classes =
        classes_text(*condition.ask, pools_.catalog()->classes);
    if (asked.classes != classes)
        asked.answers.clear();
    asked.classes = std::move(classes);
    return asked;
}

// Nothing: the limit for all is used up, and the next call decides it.
std::optional<bool> DeviceFits::decide(Asked &asked, const DeviceAsk &ask,
                                       const Stock &stock, const Node &node)
{
    if (asked.budget.spent())
        return true;
    if (budget_.spent())
        return std::nullopt;
    std::size_t limit = std::min(asked.budget.left(), budget_.left());
    CelBudget budget(limit);
    bool yes = std::ranges::any_of(ask.any_of, [&](const DeviceNeeds &needs) {
        return can_satisfy_one(needs, stock.there.pools, *pools_.catalog(),
                               node, budget) ||
               budget.spent();
    });
    std::size_t cost = limit - budget.left();
    asked.budget.spend(cost);
    budget_.spend(cost);
    return budget_.spent() ? std::nullopt : std::optional(yes);
}

std::optional<bool> DeviceFits::can_satisfy(const DeviceCondition &condition,
                                            const Node &node)
{
    if (!pools_.catalog())
        return std::nullopt;
    Asked &asked = asked_for(condition);
    const Stock &stock = stock_on(node);
    if (stock.there.pools.empty() || stock.there.doubtful)
        return std::nullopt;
    auto known = asked.answers.find(node.name);
    if (known != asked.answers.end() && known->second.version == stock.version)
        return known->second.yes;
    auto yes = decide(asked, *condition.ask, stock, node);
    if (!yes)
        return true;
    asked.answers[node.name] = {stock.version, *yes};
    return yes;
}

} // namespace bridge
