// SPDX-License-Identifier: GPL-2.0-or-later
// A device of a ResourceSlice, as selectors and constraints see it. Values only.
#pragma once

#include "agent/semver.h"
#include "common/quantity.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace bridge {

// Nothing: of a kind that this version does not know, or a version that is
// none. Selectors must not be asked about such a device.
using DeviceAttribute =
    std::variant<std::monostate, std::int64_t, bool, std::string, Semver>;

// "domain/id", and "id" alone for the driver's own.
using QualifiedName = std::string;

struct Device {
    std::string driver;
    std::string pool;
    std::string name;
    bool allow_multiple_allocations = false;
    std::map<QualifiedName, DeviceAttribute> attributes;
    std::map<QualifiedName, Quantity> capacity;
};

struct DomainAndId {
    std::string_view domain;
    std::string_view id;
};

inline DomainAndId split_name(std::string_view name, std::string_view driver)
{
    std::size_t slash = name.find('/');
    if (slash == name.npos)
        return {driver, name};
    return {name.substr(0, slash), name.substr(slash + 1)};
}

// By its exact name, else, in the driver's own domain, by its id. Null: the
// device has none.
template <class Value>
const Value *find_named(const std::map<QualifiedName, Value> &values,
                        const std::string &driver, const std::string &domain,
                        const std::string &id)
{
    auto found = values.find(domain + "/" + id);
    if (found == values.end() && domain == driver)
        found = values.find(id);
    return found == values.end() ? nullptr : &found->second;
}

} // namespace bridge
