// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/allocation.h"

#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/kube/text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bridge {

namespace {

// JSON texts that are joined as text, since opaque parameters must keep their
// bytes.
using Texts = std::vector<std::string>;

std::string string_text(std::string_view text)
{
    return JsonValue(text).dump();
}

std::string strings_text(const std::vector<std::string> &texts)
{
    Texts items;
    for (const std::string &text : texts)
        items.push_back(string_text(text));
    return json_array(items);
}

std::string unless_empty(const Texts &items)
{
    return items.empty() ? std::string() : json_array(items);
}

std::string capacity_text(const Device &device, const DeviceRequest &request)
{
    auto taken = consumed_capacity(device, request);
    if (!device.allow_multiple_allocations || !taken)
        return {};
    JsonMembers amounts;
    for (const auto &[name, amount] : *taken)
        amounts.emplace_back(name, string_text(amount.text()));
    return amounts.empty() ? std::string() : json_object(amounts);
}

std::string result_text(const ChosenDevice &chosen,
                        const DeviceRequest &request)
{
    const Device &device = *chosen.device;
    Texts tolerations;
    for (const DeviceToleration &toleration : request.tolerations)
        tolerations.push_back(toleration.json);
    return json_object(
        {{"request", string_text(chosen.request)},
         {"driver", string_text(device.driver)},
         {"pool", string_text(device.pool)},
         {"device", string_text(device.name)},
         {"adminAccess", request.admin_access ? "true" : ""},
         {"tolerations", unless_empty(tolerations)},
         {"shareID", chosen.share_id.empty() ? std::string()
                                             : string_text(chosen.share_id)},
         {"consumedCapacity", capacity_text(device, request)}});
}

std::string config_text(std::string_view source,
                        const std::vector<std::string> &requests,
                        const DeviceConfig &config)
{
    return json_object({{"source", string_text(source)},
                        {"requests", requests.empty() ? std::string()
                                                      : strings_text(requests)},
                        {"opaque", config.opaque}});
}

// Returns the requests, or choices of requests, that have devices, in the
// claim's order.
std::vector<const DeviceRequest *>
used_requests(const ResourceClaim &claim, std::span<const ChosenDevice> chosen)
{
    std::vector<const DeviceRequest *> made;
    for (const ClaimRequest &group : claim.requests)
        for (const DeviceRequest &choice : group.choices)
            if (std::ranges::contains(chosen, choice.name,
                                      &ChosenDevice::request))
                made.push_back(&choice);
    return made;
}

// Adds the configuration of each class once, with all requests that use the
// class.
void add_class_configs(const std::vector<const DeviceRequest *> &requests,
                       const DeviceClasses &classes, Texts &into)
{
    std::vector<std::string> done;
    for (const DeviceRequest *request : requests) {
        auto found = classes.find(request->class_name);
        if (found == classes.end() ||
            std::ranges::contains(done, request->class_name))
            continue;
        done.push_back(request->class_name);
        std::vector<std::string> names;
        for (const DeviceRequest *other : requests)
            if (other->class_name == request->class_name)
                names.push_back(other->name);
        for (const DeviceConfig &config : found->second.config)
            into.push_back(config_text("FromClass", names, config));
    }
}

void add_claim_configs(const ResourceClaim &claim,
                       const std::vector<const DeviceRequest *> &requests,
                       Texts &into)
{
    auto is_used = [&](const std::string &name) {
        return std::ranges::any_of(requests, [&](const DeviceRequest *request) {
            return request->name == name ||
                   request->name.starts_with(name + "/");
        });
    };
    for (const DeviceConfig &config : claim.config)
        if (config.requests.empty() ||
            std::ranges::any_of(config.requests, is_used))
            into.push_back(config_text("FromClaim", config.requests, config));
}

std::string selector_text(const Texts &fields, const Texts &expressions)
{
    if (fields.empty() && expressions.empty())
        return {};
    std::string term =
        json_object({{"matchExpressions", unless_empty(expressions)},
                     {"matchFields", unless_empty(fields)}});
    return json_object({{"nodeSelectorTerms", json_array({term})}});
}

void add_new(const Texts &from, Texts &into)
{
    for (const std::string &one : from)
        if (!std::ranges::contains(into, one))
            into.push_back(one);
}

// Returns the node selector: one node if a device is bound to it, else where
// all devices can be used. "": everywhere.
std::string node_selector_text(std::span<const ChosenDevice> chosen,
                               const std::string &node)
{
    Texts fields;
    Texts expressions;
    for (const ChosenDevice &one : chosen) {
        const auto &scope = one.device->scope;
        bool on_one_node = !scope || one.device->binds_to_node ||
                           scope->kind == DeviceScope::Kind::node;
        if (on_one_node)
            return selector_text(
                {json_object({{"key", "\"metadata.name\""},
                              {"operator", "\"In\""},
                              {"values", strings_text({node})}})},
                {});
        add_new(scope->match_fields, fields);
        add_new(scope->match_expressions, expressions);
    }
    return selector_text(fields, expressions);
}

// Returns nothing if the text is not an object of the API.
std::optional<std::vector<std::string>> finalizers_in(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json || !json->at("metadata").is_object())
        return std::nullopt;
    std::vector<std::string> finalizers;
    for (const Json &item : json->items("metadata/finalizers"))
        finalizers.push_back(item.text());
    return finalizers;
}

std::string with_finalizers(std::string_view text,
                            const std::vector<std::string> &finalizers)
{
    auto metadata = json_text(text, "metadata");
    if (!metadata)
        return {};
    std::string changed =
        json_with(*metadata, "finalizers", strings_text(finalizers));
    return changed.empty() ? changed : json_with(text, "metadata", changed);
}

std::string consumer_text(const Pod &pod)
{
    return json_object({{"resource", "\"pods\""},
                        {"name", string_text(pod.key.name)},
                        {"uid", string_text(pod.uid)}});
}

} // namespace

std::string protected_claim(std::string_view text)
{
    auto finalizers = finalizers_in(text);
    if (!finalizers || std::ranges::contains(*finalizers, delete_protection))
        return {};
    finalizers->emplace_back(delete_protection);
    return with_finalizers(text, *finalizers);
}

std::string unprotected_claim(std::string_view text)
{
    auto finalizers = finalizers_in(text);
    if (!finalizers || std::erase(*finalizers, delete_protection) == 0)
        return {};
    return with_finalizers(text, *finalizers);
}

std::string allocation_text(const ResourceClaim &claim,
                            const DeviceClasses &classes,
                            std::span<const ChosenDevice> chosen,
                            const std::string &node,
                            std::chrono::system_clock::time_point now)
{
    Texts results;
    for (const ChosenDevice &one : chosen)
        if (const DeviceRequest *request = find_request(claim, one.request))
            results.push_back(result_text(one, *request));
    auto requests = used_requests(claim, chosen);
    Texts configs;
    add_class_configs(requests, classes, configs);
    add_claim_configs(claim, requests, configs);
    std::string devices = json_object(
        {{"results", json_array(results)}, {"config", unless_empty(configs)}});
    return json_object(
        {{"devices", devices},
         {"nodeSelector", node_selector_text(chosen, node)},
         {"allocationTimestamp", string_text(second_time(now))}});
}

std::string reserved_claim(std::string_view text, std::string_view allocation,
                           const Pod &pod)
{
    auto json = Json::parse(text);
    if (!json || !json->at("metadata").is_object())
        return {};
    Texts consumers;
    for (const Json &item : json->items("status/reservedFor")) {
        if (item.text("uid") == pod.uid)
            return {};
        consumers.push_back(item.dump());
    }
    bool allocated = json->at("status/allocation").is_object();
    if (allocated != allocation.empty() || consumers.size() >= max_consumers)
        return {};
    consumers.push_back(consumer_text(pod));
    std::string status(json_text(text, "status").value_or("{}"));
    if (!allocation.empty())
        status = json_with(status, "allocation", allocation);
    status = json_with(status, "reservedFor", json_array(consumers));
    return status.empty() ? status : json_with(text, "status", status);
}

std::string released_claim(std::string_view text, const std::string &pod_uid)
{
    auto json = Json::parse(text);
    if (!json || !json->at("metadata").is_object())
        return {};
    Texts others;
    auto consumers = json->items("status/reservedFor");
    for (const Json &item : consumers)
        if (item.text("resource") != "pods" || item.text("uid") != pod_uid)
            others.push_back(item.dump());
    if (others.size() == consumers.size())
        return {};
    if (others.empty()) // all at once, or not at all: the API server's rule
        return json_with(text, "status", "{}");
    auto status = json_text(text, "status");
    std::string changed =
        status ? json_with(*status, "reservedFor", json_array(others)) : "";
    return changed.empty() ? changed : json_with(text, "status", changed);
}

} // namespace bridge
