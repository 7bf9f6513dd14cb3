// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/consumed_capacity.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr WideInt one = 1000000000; // in nanos

WideInt whole_units(Quantity quantity)
{
    WideInt nanos = quantity.nanos();
    return nanos / one + (nanos % one > 0);
}

// Rounds up to the next step in whole units, as kube-scheduler does.
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

// Returns what the request gets of one capacity, or nothing if it cannot be
// satisfied.
std::optional<Quantity> share_of(const DeviceCapacity &capacity,
                                 const Quantity *wanted)
{
    if (wanted && *wanted < Quantity()) // it would give to others
        return std::nullopt;
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

WideInt nanos_in(const Capacities &amounts, const std::string &name)
{
    auto found = amounts.find(name);
    return found == amounts.end() ? 0 : found->second.nanos();
}

} // namespace

std::optional<Capacities> consumed_capacity(const Device &device,
                                            const DeviceRequest &request)
{
    for (const auto &[name, wanted] : request.capacity)
        if (!device.capacity.contains(name))
            return std::nullopt;
    Capacities made;
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

void add_capacities(Capacities &to, const Capacities &more)
{
    for (const auto &[name, amount] : more) {
        auto [at, first] = to.emplace(name, amount);
        if (!first)
            at->second = Quantity(at->second.nanos() + amount.nanos(),
                                  at->second.format());
    }
}

std::string short_capacity(const Device &device, const Capacities &consumed,
                           const Capacities &more)
{
    for (const auto &[name, capacity] : device.capacity)
        if (nanos_in(consumed, name) + nanos_in(more, name) >
            capacity.value.nanos())
            return name;
    return {};
}

} // namespace bridge
