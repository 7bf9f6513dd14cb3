// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/resource_slice.h"

#include "agent/objects/pod_placement.h"
#include "common/base/json.h"

#include <format>
#include <utility>

namespace bridge {

namespace {

// The API server's limit; it would refuse a slice with more.
constexpr std::size_t max_devices = 128;

class Reader {
  public:
    explicit Reader(ResourceSlice &slice) : slice_(slice) {}

    void read(const Json &json)
    {
        Json spec = json.at("spec");
        slice_.name = json.text("metadata/name");
        slice_.uid = json.text("metadata/uid");
        slice_.driver = spec.text("driver");
        slice_.pool = spec.text("pool/name");
        slice_.generation = number(spec, "pool/generation", 0);
        slice_.slices_in_pool = number(spec, "pool/resourceSliceCount", 1);
        if (slice_.name.empty() || slice_.driver.empty() || slice_.pool.empty())
            object("it lacks its name, driver or pool");
        for (const Json &set : spec.items("sharedCounters"))
            if (!slice_.shared_counters.emplace(set.text("name"), counters(set))
                     .second)
                object("it has a counter set twice");
        read_devices(spec);
    }

  private:
    void object(std::string reason)
    {
        if (slice_.unfit_reason.empty())
            slice_.unfit_reason =
                std::format("ResourceSlice {}: {}", slice_.name, reason);
    }

    std::int64_t number(const Json &spec, const char *path, std::int64_t least)
    {
        auto value = spec.integer(path);
        if (!value || *value < least)
            object(std::format("{} is not a valid number", path));
        return value.value_or(0);
    }

    Quantity quantity(const Json &json)
    {
        auto value = Quantity::parse(json.text());
        if (!value)
            object(value.error().message);
        return value.value_or(Quantity{});
    }

    std::optional<Quantity> maybe_quantity(const Json &json)
    {
        return json.present() ? std::optional(quantity(json)) : std::nullopt;
    }

    Counters counters(const Json &set)
    {
        Counters made;
        for (const auto &[name, counter] : set.members("counters"))
            made.emplace(name, quantity(counter.at("value")));
        return made;
    }

    void read_devices(const Json &spec)
    {
        bool own_scopes = spec.flag("perDeviceNodeSelection");
        auto scope = own_scopes ? nullptr : scope_of(spec);
        std::vector<Json> devices = spec.items("devices");
        if (devices.size() > max_devices) {
            object("it has too many devices");
            devices.clear();
        }
        for (const Json &item : devices) {
            Device device = device_of(item);
            device.scope = own_scopes ? scope_of(item) : scope;
            slice_.devices.push_back(
                std::make_shared<const Device>(std::move(device)));
        }
    }

    std::shared_ptr<const DeviceScope> scope_of(const Json &json)
    {
        auto scope = std::make_shared<DeviceScope>();
        scope->node = json.text("nodeName");
        if (!scope->node.empty())
            scope->kind = DeviceScope::Kind::node;
        else if (json.flag("allNodes"))
            scope->kind = DeviceScope::Kind::all;
        else if (json.at("nodeSelector").is_object())
            read_selector(json.at("nodeSelector"), *scope);
        return scope;
    }

    // The API allows exactly one term: with more, an allocated claim could not
    // say which one holds.
    void read_selector(const Json &json, DeviceScope &scope)
    {
        auto selector = node_selector(json);
        if (!selector || json.items("nodeSelectorTerms").size() != 1)
            return;
        scope.kind = DeviceScope::Kind::selector;
        scope.selector = std::move(*selector);
        Json term = json.at("nodeSelectorTerms/0");
        for (const Json &one : term.items("matchFields"))
            scope.match_fields.push_back(one.dump());
        for (const Json &one : term.items("matchExpressions"))
            scope.match_expressions.push_back(one.dump());
    }

    Device device_of(const Json &json)
    {
        Device device;
        device.driver = slice_.driver;
        device.pool = slice_.pool;
        device.name = json.text("name");
        if (device.name.empty())
            object("a device has no name");
        device.allow_multiple_allocations =
            json.flag("allowMultipleAllocations");
        device.binds_to_node = json.flag("bindsToNode");
        for (const auto &[name, attribute] : json.members("attributes"))
            device.attributes.emplace(name, attribute_of(attribute));
        for (const auto &[name, capacity] : json.members("capacity"))
            device.capacity.emplace(name, capacity_of(capacity));
        for (const Json &taint : json.items("taints"))
            device.taints.push_back(
                {taint.text("key"), taint.text("value"), taint.text("effect")});
        for (const Json &use : json.items("consumesCounters"))
            if (!device.consumes.emplace(use.text("counterSet"), counters(use))
                     .second)
                object("a device takes from a counter set twice");
        for (const Json &one : json.items("bindingConditions"))
            device.binding_conditions.push_back(one.text());
        for (const Json &one : json.items("bindingFailureConditions"))
            device.binding_failure_conditions.push_back(one.text());
        return device;
    }

    // Reads an attribute: it must have exactly one member of a known kind, else
    // its value is unknown.
    DeviceAttribute attribute_of(const Json &json)
    {
        auto members = json.members();
        if (members.size() != 1)
            return {};
        const auto &[kind, value] = members.front();
        if (auto number = value.integer(); number && kind == "int")
            return *number;
        if (kind == "bool")
            return value.flag();
        if (kind == "string")
            return value.text();
        if (kind == "version")
            if (auto version = Semver::parse(value.text()))
                return *version;
        return {};
    }

    DeviceCapacity capacity_of(const Json &json)
    {
        DeviceCapacity made{quantity(json.at("value"))};
        Json policy = json.at("requestPolicy");
        if (!policy.is_object())
            return made;
        made.policy.emplace();
        made.policy->standard = maybe_quantity(policy.at("default"));
        for (const Json &one : policy.items("validValues"))
            made.policy->values.push_back(quantity(one));
        made.policy->least = maybe_quantity(policy.at("validRange/min"));
        made.policy->most = maybe_quantity(policy.at("validRange/max"));
        made.policy->step = maybe_quantity(policy.at("validRange/step"));
        return made;
    }

    ResourceSlice &slice_;
};

} // namespace

ResourceSlice resource_slice_from(const Json &json)
{
    ResourceSlice slice;
    Reader(slice).read(json);
    return slice;
}

} // namespace bridge
