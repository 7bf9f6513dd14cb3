// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/fit_counts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// Of a Node that is compared with what a Pod requests of one.
constexpr std::size_t cost_of_node = 5;

// Returns the only Node on which the device can be used. Null: several Nodes,
// or unknown.
const std::string *only_node_of(const Device &device)
{
    const DeviceScope *scope = device.scope.get();
    bool one = scope && scope->kind == DeviceScope::Kind::node;
    return one ? &scope->node : nullptr;
}

class FitCounter {
  public:
    FitCounter(const DeviceRequest &request, const DeviceClass &device_class,
               CelBudget &budget)
        : request_(request), class_(device_class), budget_(budget)
    {
    }

    void count_device(const DevicePtr &device)
    {
        const std::string *node = only_node_of(*device);
        if (!node || unclear_.contains(*node))
            return;
        auto reason = unfit_device_reason(*device, request_, class_, budget_);
        if (!reason) {
            unclear_.insert(*node);
            made_.unclear.push_back({*node, reason.error().message});
        } else if (reason->empty()) {
            fit_[*node]++;
        }
    }

    FitCounts counts()
    {
        for (const auto &[node, count] : fit_)
            made_.nodes.push_back({node, count});
        std::ranges::stable_sort(made_.nodes, std::ranges::greater{},
                                 &FitCounts::OnNode::count);
        return std::move(made_);
    }

  private:
    const DeviceRequest &request_;
    const DeviceClass &class_;
    CelBudget &budget_;
    std::map<std::string, std::int64_t> fit_; // by Node
    std::set<std::string> unclear_;           // Nodes
    FitCounts made_;
};

} // namespace

FitCounts fit_counts(const DeviceCatalog &catalog, const DeviceRequest &request,
                     CelBudget &budget)
{
    auto found = catalog.classes.find(request.class_name);
    if (found == catalog.classes.end())
        return {};
    DeviceRequest unnamed = request;
    unnamed.name = any_request;
    FitCounter counter(unnamed, found->second, budget);
    for (const DevicePool &pool : catalog.pools)
        if (pool.usable())
            for (const DevicePtr &device : pool.devices) {
                counter.count_device(device);
                if (budget.spent())
                    return {.nodes = {}, .unclear = {}, .too_much = true};
            }
    return counter.counts();
}

Result<std::int64_t>
most_fitting(const FitCounts &counts, const DeviceRequest &request,
             const std::function<bool(const std::string &)> &may_be,
             CelBudget &budget)
{
    auto may_be_there = [&](const std::string &node) {
        return budget.spend(cost_of_node) && may_be(node);
    };
    if (counts.too_much)
        return fail(Code::rejected, "request " + request.name + ": " +
                                        CelSelector::too_much_in_sum);
    for (const FitCounts::Unclear &one : counts.unclear)
        if (may_be_there(one.node))
            return fail(Code::rejected, with_name(one.reason, request.name));
    for (const FitCounts::OnNode &there : counts.nodes)
        if (may_be_there(there.node))
            return there.count;
    if (budget.spent())
        return fail(Code::rejected,
                    "request " + request.name + ": " + too_many_nodes);
    return 0;
}

bool operator==(const FitCounts &a, const FitCounts &b)
{
    auto same_count = [](const auto &x, const auto &y) {
        return x.count == y.count && x.node == y.node;
    };
    auto same_reason = [](const auto &x, const auto &y) {
        return x.reason == y.reason && x.node == y.node;
    };
    return a.too_much == b.too_much &&
           std::ranges::equal(a.nodes, b.nodes, same_count) &&
           std::ranges::equal(a.unclear, b.unclear, same_reason);
}

std::string with_name(std::string message, const std::string &name)
{
    constexpr std::string_view any = any_request;
    for (auto at = message.find(any); at != message.npos;
         at = message.find(any, at + name.size()))
        message.replace(at, any.size(), name);
    return message;
}

} // namespace bridge
