// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/constraints.h"

#include <algorithm>
#include <format>
#include <variant>
#include <vector>

namespace bridge {

namespace {

using Chosen = std::span<const ChosenDevice>;

// Returns true if the constraint applies to the request. An entry of the
// constraint names a request with all its choices, or one choice.
bool is_about(const DeviceConstraint &constraint, const std::string &request)
{
    return constraint.requests.empty() ||
           std::ranges::any_of(constraint.requests,
                               [&](const std::string &name) {
                                   return request.starts_with(name) &&
                                          (request.size() == name.size() ||
                                           request[name.size()] == '/');
                               });
}

bool has_value(const DeviceAttribute *value)
{
    return value && !std::holds_alternative<std::monostate>(*value);
}

// Distinct values must differ in all pairs of devices. kube-scheduler remembers
// only one value for each request.
std::string unmet_constraint_reason(const DeviceConstraint &constraint,
                                    Chosen chosen)
{
    std::vector<const DeviceAttribute *> seen;
    for (const ChosenDevice &one : chosen) {
        if (!is_about(constraint, one.request))
            continue;
        const DeviceAttribute *value =
            attribute_of(*one.device, constraint.attribute);
        if (!has_value(value))
            return quoted(one, "it has no attribute " + constraint.attribute);
        for (const DeviceAttribute *other : seen)
            if ((*value == *other) == constraint.distinct)
                return quoted(
                    one, std::format(
                             "its {} {} another device's", constraint.attribute,
                             constraint.distinct ? "equals" : "differs from"));
        seen.push_back(value);
    }
    return {};
}

} // namespace

std::string quoted(const ChosenDevice &chosen, std::string_view reason)
{
    return std::format("device {} for request {}: {}",
                       chosen.device->id().str(), chosen.request, reason);
}

const DeviceAttribute *attribute_of(const Device &device,
                                    const std::string &attribute)
{
    auto [domain, id] = split_name(attribute, "");
    return find_named(device.attributes, device.driver, std::string(domain),
                      std::string(id));
}

std::string unmet_constraint_reason(const ResourceClaim &claim, Chosen chosen)
{
    std::string reason;
    for (const DeviceConstraint &constraint : claim.constraints)
        if (reason.empty())
            reason = unmet_constraint_reason(constraint, chosen);
    return reason;
}

bool goes_with(const ResourceClaim &claim, Chosen chosen,
               const ChosenDevice &more, int &looks)
{
    for (const DeviceConstraint &constraint : claim.constraints) {
        looks++;
        if (!is_about(constraint, more.request))
            continue;
        const DeviceAttribute *value =
            attribute_of(*more.device, constraint.attribute);
        if (!has_value(value))
            return false;
        for (const ChosenDevice &one : chosen) {
            looks++;
            if (!is_about(constraint, one.request))
                continue;
            const DeviceAttribute *other =
                attribute_of(*one.device, constraint.attribute);
            if (!has_value(other) || (*value == *other) == constraint.distinct)
                return false;
            if (!constraint.distinct)
                break; // the others have the same
        }
    }
    return true;
}

} // namespace bridge
