// SPDX-License-Identifier: GPL-2.0-or-later
// A device of a ResourceSlice: what selectors and constraints see, what it
// takes from its pool, and where it can be used. Values only.
#pragma once

#include "agent/objects/predicate.h"
#include "agent/objects/semver.h"
#include "common/base/quantity.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bridge {

// Nothing: of a kind that this version does not know, or a version that is
// none. Selectors must not be asked about such a device.
using DeviceAttribute =
    std::variant<std::monostate, std::int64_t, bool, std::string, Semver>;

// "domain/id", and "id" alone for the driver's own.
using QualifiedName = std::string;

// What may be asked for of a capacity that many share.
struct CapacityPolicy {
    std::optional<Quantity> standard; // for who does not say
    std::vector<Quantity> values;     // one of these, in order
    std::optional<Quantity> least;    // or from this on
    std::optional<Quantity> most;
    std::optional<Quantity> step;
};

struct DeviceCapacity {
    Quantity value;
    std::optional<CapacityPolicy> policy{};
};

struct DeviceTaint {
    std::string key;
    std::string value;
    std::string effect;

    auto operator<=>(const DeviceTaint &) const = default;
};

using Counters = std::map<std::string, Quantity>;
using CounterSets = std::map<std::string, Counters>; // by the set's name

// Where a device can be used. none: as this version cannot tell.
struct DeviceScope {
    enum class Kind { none, node, selector, all };

    Kind kind = Kind::none;
    std::string node;      // Kubernetes' name
    NodeSelector selector; // in order, of one term
    // The selector's requirements as the API server wrote them, for the claim.
    std::vector<std::string> match_fields;
    std::vector<std::string> match_expressions;
};

// Devices are the same when all three are.
struct DeviceId {
    std::string driver;
    std::string pool;
    std::string device;

    std::string str() const { return driver + "/" + pool + "/" + device; }
    auto operator<=>(const DeviceId &) const = default;
};

struct Device {
    std::string driver;
    std::string pool;
    std::string name;
    bool allow_multiple_allocations = false;
    bool binds_to_node = false;
    std::map<QualifiedName, DeviceAttribute> attributes;
    std::map<QualifiedName, DeviceCapacity> capacity;
    std::vector<DeviceTaint> taints;
    CounterSets consumes; // from its pool's sets
    std::vector<std::string> binding_conditions;
    std::vector<std::string> binding_failure_conditions;
    std::shared_ptr<const DeviceScope> scope; // its slice's, or its own

    DeviceId id() const { return {driver, pool, name}; }
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
