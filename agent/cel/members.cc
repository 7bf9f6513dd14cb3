// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/members.h"

#include <format>
#include <set>
#include <type_traits>
#include <utility>

namespace bridge {

namespace {

using Value = Result<CelValue>;

std::unexpected<Error> failed(std::string what)
{
    return fail(Code::rejected, std::move(what));
}

// The API server knows the fields of the device and refuses selectors with
// others.
Value field(const Device &device, const CelValue &key)
{
    auto *name = std::get_if<std::string>(&key.is);
    if (name && *name == "driver")
        return CelValue{device.driver};
    if (name && *name == "allowMultipleAllocations")
        return CelValue{device.allow_multiple_allocations};
    if (name && *name == "attributes")
        return CelValue{CelMap{CelMap::Of::attributes}};
    if (name && *name == "capacity")
        return CelValue{CelMap{CelMap::Of::capacity}};
    return failed("the device has no such field");
}

Value value_of(const DeviceAttribute &attribute)
{
    return std::visit(
        []<class T>(const T &value) -> Value {
            if constexpr (std::is_same_v<T, std::monostate>)
                return failed("an attribute of an unknown kind");
            else
                return CelValue{value};
        },
        attribute);
}

Value entry(const Device &device, const CelMap &map, const CelValue &key,
            bool &missing)
{
    auto *name = std::get_if<std::string>(&key.is);
    if (name && !map.one_domain)
        return CelValue{CelMap{map.of, true, *name}};
    if (name && map.of == CelMap::Of::attributes) {
        if (auto *found =
                find_named(device.attributes, device.driver, map.domain, *name))
            return value_of(*found);
    } else if (name) {
        if (auto *found =
                find_named(device.capacity, device.driver, map.domain, *name))
            return CelValue{found->value};
    }
    missing = true;
    return failed(std::format("no such key: {}",
                              name ? name->substr(0, 128) : type_name(key)));
}

Value item(const std::vector<CelValue> &list, const CelValue &key,
           bool &missing)
{
    auto *index = std::get_if<std::int64_t>(&key.is);
    if (!index)
        return failed(
            std::format("no such overload: [{}] of a list", type_name(key)));
    if (*index >= 0 && std::cmp_less(*index, list.size()))
        return list[static_cast<std::size_t>(*index)];
    missing = true;
    return failed("the list has no such index");
}

template <class Values>
std::vector<std::string> keys_in(const Values &values, const Device &device,
                                 const CelMap &map)
{
    std::set<std::string> keys;
    for (const auto &[name, value] : values) {
        auto [domain, id] = split_name(name, device.driver);
        if (!map.one_domain)
            keys.emplace(domain);
        else if (domain == map.domain)
            keys.emplace(id);
    }
    return {keys.begin(), keys.end()};
}

} // namespace

Result<CelValue> cel_member(const Device &device, const CelValue &of,
                            const CelValue &key, bool &missing)
{
    missing = false;
    if (std::holds_alternative<CelDeviceObject>(of.is))
        return field(device, key);
    if (auto *map = std::get_if<CelMap>(&of.is))
        return entry(device, *map, key, missing);
    if (auto *list = std::get_if<CelList>(&of.is))
        return item(**list, key, missing);
    return failed(
        std::format("no such overload: a member of {}", type_name(of)));
}

std::vector<std::string> cel_keys(const Device &device, const CelMap &map)
{
    return map.of == CelMap::Of::attributes
               ? keys_in(device.attributes, device, map)
               : keys_in(device.capacity, device, map);
}

} // namespace bridge
