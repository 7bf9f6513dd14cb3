// SPDX-License-Identifier: GPL-2.0-or-later
// One device and one request.
#include "agent/claim_check.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

constexpr WideInt one = 1000000000; // in nanos

bool tolerates(const DeviceToleration &toleration, const DeviceTaint &taint)
{
    return (toleration.effect.empty() || toleration.effect == taint.effect) &&
           (toleration.key.empty() || toleration.key == taint.key) &&
           (toleration.exists || toleration.value == taint.value);
}

// Null: none keeps the device from the request. Unknown effects do not.
const DeviceTaint *untolerated(const Device &device,
                               const DeviceRequest &request)
{
    for (const DeviceTaint &taint : device.taints) {
        bool keeps = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
        bool tolerated =
            std::ranges::any_of(request.tolerations, [&](const auto &one_of) {
                return tolerates(one_of, taint);
            });
        if (keeps && !tolerated)
            return &taint;
    }
    return nullptr;
}

Result<bool> all_match(const std::vector<CelSelector> &selectors,
                       const Device &device)
{
    for (const CelSelector &selector : selectors) {
        auto matches = selector.matches(device);
        if (!matches || !*matches)
            return matches;
    }
    return true;
}

WideInt whole_units(Quantity quantity)
{
    WideInt nanos = quantity.nanos();
    return nanos / one + (nanos % one > 0);
}

// Up to the next step, as kube-scheduler counts: in whole units.
Quantity stepped(Quantity wanted, const CapacityPolicy &policy)
{
    WideInt least = whole_units(*policy.least);
    WideInt step = whole_units(*policy.step);
    if (step <= 0)
        return wanted;
    WideInt more = whole_units(wanted) - least;
    WideInt steps = more / step + (more % step != 0);
    return Quantity((least + steps * step) * one, Quantity::Format::binary);
}

Quantity rounded(Quantity wanted, const CapacityPolicy &policy)
{
    if (policy.least) {
        if (wanted < *policy.least)
            return *policy.least;
        return policy.step ? stepped(wanted, policy) : wanted;
    }
    for (const Quantity &value : policy.values)
        if (wanted <= value)
            return value;
    return wanted;
}

bool is_step(Quantity amount, const CapacityPolicy &policy)
{
    if (!policy.step || !policy.least || whole_units(*policy.step) <= 0)
        return true;
    WideInt more = whole_units(amount) - whole_units(*policy.least);
    return more % whole_units(*policy.step) == 0;
}

bool is_allowed(Quantity amount, const CapacityPolicy &policy)
{
    if (policy.standard && amount == *policy.standard)
        return true;
    if ((policy.most && amount > *policy.most) || !is_step(amount, policy))
        return false;
    return policy.values.empty() ||
           std::ranges::contains(policy.values, amount);
}

// What the request gets of one capacity; nothing: it cannot.
std::optional<Quantity> share_of(const DeviceCapacity &capacity,
                                 const Quantity *wanted)
{
    Quantity amount = capacity.value;
    if (!capacity.policy)
        amount = wanted ? *wanted : capacity.value;
    else if (wanted)
        amount = rounded(*wanted, *capacity.policy);
    else
        amount = capacity.policy->standard.value_or(capacity.value);
    if (amount > capacity.value ||
        (capacity.policy && !is_allowed(amount, *capacity.policy)))
        return std::nullopt;
    return amount;
}

} // namespace

std::optional<std::map<QualifiedName, Quantity>>
consumed_capacity(const Device &device, const DeviceRequest &request)
{
    for (const auto &[name, wanted] : request.capacity)
        if (!device.capacity.contains(name))
            return std::nullopt;
    std::map<QualifiedName, Quantity> made;
    for (const auto &[name, capacity] : device.capacity) {
        auto wanted = request.capacity.find(name);
        auto amount = share_of(capacity, wanted == request.capacity.end()
                                             ? nullptr
                                             : &wanted->second);
        if (!amount)
            return std::nullopt;
        made.emplace(name, *amount);
    }
    if (!device.allow_multiple_allocations)
        made.clear();
    return made;
}

Result<std::string> why_unfit(const Device &device, const DeviceRequest &request,
                              const DeviceClass &device_class, const Node &node)
{
    if (!is_on(device, node))
        return "it cannot be used on this node";
    return why_unfit(device, request, device_class);
}

Result<std::string> why_unfit(const Device &device, const DeviceRequest &request,
                              const DeviceClass &device_class)
{
    if (std::string why = device_objection(device); !why.empty())
        return why;
    auto of_class = all_match(device_class.selectors, device);
    if (!of_class)
        return fail(of_class.error(), "DeviceClass " + device_class.name);
    if (!*of_class)
        return "it is not of class " + device_class.name;
    auto wanted = all_match(request.selectors, device);
    if (!wanted)
        return fail(wanted.error(), "request " + request.name);
    if (!*wanted)
        return "it does not match the request's selectors";
    if (const DeviceTaint *taint = untolerated(device, request))
        return std::format("its taint {} is not tolerated", taint->key);
    if (!consumed_capacity(device, request))
        return "it has not the capacity that is asked for";
    return std::string();
}

} // namespace bridge
