// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/amounts.h"

#include "common/base/text.h"
#include "common/contract/device_gres.h"

#include <algorithm>
#include <format>
#include <optional>

namespace bridge {

namespace {

// Limits amounts, since drivers may publish any numbers: the sum of all that
// one Pod can request must not overflow.
constexpr std::uint64_t most_amount = std::uint64_t{1} << 45;

std::uint64_t units(WideInt nanos, const Quantity &unit)
{
    if (nanos <= 0 || unit.nanos() <= 0)
        return 0;
    WideInt whole = nanos / unit.nanos() + (nanos % unit.nanos() != 0);
    return whole < WideInt(most_amount) ? static_cast<std::uint64_t>(whole)
                                        : most_amount;
}

void add_amount(GresCounts &to, const std::string &gres, std::uint64_t amount)
{
    std::uint64_t &sum = to[gres];
    sum = std::min(sum + std::min(amount, most_amount), most_amount);
}

// Returns the value that the GRES counts, or null if the device does not have
// it.
template <class Value>
const Value *find_counted(const std::map<QualifiedName, Value> &values,
                          const Device &device, const CapacityGres &counted)
{
    if (device.driver != counted.driver)
        return nullptr;
    return find_named(values, device.driver, counted.driver, counted.name);
}

bool is_held_whole(const DeviceClaims &claims, const DeviceId &id)
{
    return claims.foreign.contains(id) && !claims.foreign_shares.contains(id);
}

// Returns, in nanos, what is left of the capacity after the claims of other
// schedulers.
WideInt left_of(const DeviceCapacity &capacity, const Device &device,
                const CapacityGres &counted, const DeviceClaims &claims)
{
    if (is_held_whole(claims, device.id()))
        return 0;
    auto shares = claims.foreign_shares.find(device.id());
    if (shares == claims.foreign_shares.end())
        return capacity.value.nanos();
    const Quantity *taken = find_counted(shares->second, device, counted);
    return capacity.value.nanos() - (taken ? taken->nanos() : 0);
}

WideInt taken_of(const NodeStock::Pool &pool, const std::string &set,
                 const std::string &counter, const DeviceClaims &claims)
{
    WideInt taken = 0;
    for (const DevicePtr &device : pool.partitions) {
        auto of_set = device->consumes.find(set);
        if (of_set == device->consumes.end() ||
            !claims.foreign.contains(device->id()))
            continue;
        if (auto of_it = of_set->second.find(counter);
            of_it != of_set->second.end())
            taken += of_it->second.nanos();
    }
    return taken;
}

// Reads a count such as "40", or "40G" as slurmctld abbreviates it
// (gres.c:_get_suffix).
std::optional<std::uint64_t> count_in(std::string_view text)
{
    constexpr std::string_view suffixes = "KMGTP";
    std::uint64_t factor = 1;
    if (std::size_t power = suffixes.find(text.empty() ? '0' : text.back());
        power != suffixes.npos) {
        factor <<= 10 * (power + 1);
        text.remove_suffix(1);
    }
    auto count = whole_number<std::uint64_t>(text);
    if (!count || *count > most_amount / factor)
        return std::nullopt;
    return *count * factor;
}

bool is_counted(std::string_view gres, const std::vector<CapacityGres> &counted)
{
    return std::ranges::contains(counted, gres, &CapacityGres::gres);
}

} // namespace

std::string uncounted_reason(const Device &device,
                             const std::vector<CapacityGres> &counted)
{
    if (!device.consumes.empty())
        return "shares of a partition are not supported";
    bool any = std::ranges::any_of(counted, [&](const CapacityGres &one) {
        return find_counted(device.capacity, device, one) != nullptr;
    });
    if (!any)
        return "shares of a device are not supported without a capacity of it "
               "in DeviceCapacity of k8s.conf";
    return {};
}

bool has_counted_shares(const Device &device,
                        const std::vector<CapacityGres> &counted)
{
    return device.allow_multiple_allocations && is_countable(device) &&
           uncounted_reason(device, counted).empty();
}

GresCounts amounts_of_share(const Device &device, const Capacities &consumed,
                            const std::vector<CapacityGres> &counted)
{
    GresCounts amounts;
    for (const CapacityGres &one : counted)
        if (const Quantity *amount = find_counted(consumed, device, one))
            add_amount(
                amounts, one.gres,
                std::max<std::uint64_t>(units(amount->nanos(), one.unit), 1));
    return amounts;
}

GresCounts amounts_of_partition(const Device &device,
                                const std::vector<CapacityGres> &counted)
{
    GresCounts amounts;
    if (device.allow_multiple_allocations)
        return amounts;
    for (const CapacityGres &one : counted)
        for (const auto &[set, counters] : device.consumes)
            if (auto found = counters.find(one.name);
                found != counters.end() && device.driver == one.driver)
                add_amount(amounts, one.gres,
                           units(found->second.nanos(), one.unit));
    std::erase_if(amounts, [](const auto &entry) { return entry.second == 0; });
    return amounts;
}

bool has_counted_counters(const DevicePool &pool,
                          const std::vector<CapacityGres> &counted)
{
    return std::ranges::any_of(counted, [&](const CapacityGres &one) {
        return one.driver == pool.driver &&
               std::ranges::any_of(pool.counters, [&](const auto &set) {
                   return set.second.contains(one.name);
               });
    });
}

GresCounts amounts_of_stock(const NodeStock &stock, const DeviceClaims &claims,
                            const std::vector<CapacityGres> &counted)
{
    GresCounts amounts;
    for (const CapacityGres &one : counted) {
        if (one.gres == cpu_gres) // a node has them anyway
            continue;
        for (const DevicePtr &device : stock.shared)
            if (const DeviceCapacity *capacity =
                    find_counted(device->capacity, *device, one))
                add_amount(
                    amounts, one.gres,
                    units(left_of(*capacity, *device, one, claims), one.unit));
        for (const NodeStock::Pool &pool : stock.pools) {
            if (pool.partitions.empty() ||
                pool.partitions.front()->driver != one.driver)
                continue;
            for (const auto &[set, counters] : pool.counters)
                if (auto found = counters.find(one.name);
                    found != counters.end())
                    add_amount(amounts, one.gres,
                               units(found->second.nanos() -
                                         taken_of(pool, set, one.name, claims),
                                     one.unit));
        }
    }
    std::erase_if(amounts, [](const auto &entry) { return entry.second == 0; });
    return amounts;
}

void add_amounts(GresCounts &to, const GresCounts &more)
{
    for (const auto &[gres, amount] : more)
        add_amount(to, gres, amount);
}

GresCounts amounts_in(std::string_view gres,
                      const std::vector<CapacityGres> &counted)
{
    GresCounts amounts;
    while (!gres.empty()) {
        std::string_view record = next_part(gres, ',');
        std::string_view name = next_part(record, ':');
        auto count = count_in(record.substr(0, record.find('(')));
        if (count && *count != 0 && is_counted(name, counted))
            add_amount(amounts, std::string(name), *count);
    }
    return amounts;
}

std::string amounts_text(const GresCounts &amounts)
{
    std::string text;
    for (const auto &[gres, amount] : amounts)
        if (amount != 0)
            text +=
                std::format("{}{}:{}", text.empty() ? "" : ",", gres, amount);
    return text;
}

std::string amounts_conf(const GresCounts &amounts)
{
    std::string text;
    for (const auto &[gres, amount] : amounts)
        if (amount != 0) // without a file Slurm counts, and gives no index
            text += std::format("{}count={},name={}", text.empty() ? "" : "+",
                                amount, gres);
    return text;
}

} // namespace bridge
