// SPDX-License-Identifier: GPL-2.0-or-later
// A device of a ResourceSlice: its attributes and capacities, which selectors
// and constraints read, the counters that it consumes from its pool, and the
// Nodes on which it can be used. Values only.
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

// An empty value (monostate) is an attribute of a kind that this version does
// not know, or a version attribute that is not a semantic version. Selectors
// must not be evaluated for a device that has one.
using DeviceAttribute =
    std::variant<std::monostate, std::int64_t, bool, std::string, Semver>;

// "domain/id", or only "id" in the driver's own domain.
using QualifiedName = std::string;

// The amounts that a request may take of a capacity that several allocations
// share (requestPolicy).
struct CapacityPolicy {
    std::optional<Quantity> standard; // used when the request names no amount
    std::vector<Quantity> values;     // the allowed amounts, ascending
    std::optional<Quantity> least;    // or a range: the least amount
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
using CounterSets = std::map<std::string, Counters>; // by the name of the set

// The Nodes on which a device can be used. The kind "none" means that this
// version does not understand what the ResourceSlice says.
struct DeviceScope {
    enum class Kind { none, node, selector, all };

    Kind kind = Kind::none;
    std::string node;      // name of the Kubernetes Node
    NodeSelector selector; // normalized, with one term
    // The selector's requirements as the API server wrote them, for the claim.
    std::vector<std::string> match_fields;
    std::vector<std::string> match_expressions;
};

// Identifies a device in the cluster: two devices are the same if all three
// names are equal.
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
    CounterSets consumes; // of the counter sets of its pool
    std::vector<std::string> binding_conditions;
    std::vector<std::string> binding_failure_conditions;
    // The scope of its ResourceSlice, or its own.
    std::shared_ptr<const DeviceScope> scope;

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

// Looks up a value by its qualified name; a name in the driver's own domain is
// also found without its domain. Returns null if the device does not have it.
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
