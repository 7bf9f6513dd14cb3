// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/resource_claim.h"

#include "agent/claims/consumed_capacity.h"
#include "agent/objects/pod_placement.h"
#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

constexpr std::size_t longest_text = 32768; // which users can make longer
constexpr char pod_claim_name[] = "resource.kubernetes.io/pod-claim-name";

// Keeps the first thing that is not supported; later ones are ignored.
class FirstReason {
  public:
    explicit FirstReason(std::string &into) : into_(into) {}

    void add(std::string reason)
    {
        if (into_.empty())
            into_ = std::move(reason);
    }

    bool any() const { return !into_.empty(); }

  private:
    std::string &into_;
};

std::vector<std::string> texts_in(const Json &json, const char *path)
{
    std::vector<std::string> made;
    for (const Json &item : json.items(path))
        made.push_back(item.text());
    return made;
}

std::vector<CelSelector> selectors_of(const Json &json,
                                      FirstReason &unfit_reason)
{
    std::vector<CelSelector> made;
    for (const Json &item : json.items("selectors")) {
        if (unfit_reason.any()) // nobody will ask them
            break;
        if (!item.at("cel").is_object()) {
            unfit_reason.add("a selector that is not CEL is not supported");
            continue;
        }
        auto selector = CelSelector::parse(item.text("cel/expression"));
        if (selector)
            made.push_back(std::move(*selector));
        else
            unfit_reason.add(selector.error().message);
    }
    return made;
}

// Reads one entry of spec.config. at: the path of the entry.
DeviceConfig config_of(const Json &item, std::string_view text,
                       const std::string &at, FirstReason &unfit_reason)
{
    DeviceConfig config;
    config.requests = texts_in(item, "requests");
    auto opaque = json_text(text, at + "/opaque");
    if (opaque && item.at("opaque").is_object())
        config.opaque = *opaque;
    else
        unfit_reason.add("a configuration that is not opaque is not supported");
    return config;
}

std::vector<DeviceConfig> configs_in(const Json &json, std::string_view text,
                                     const std::string &path,
                                     FirstReason &unfit_reason)
{
    std::vector<DeviceConfig> made;
    for (const Json &item : json.items(path))
        made.push_back(config_of(
            item, text, std::format("{}/{}", path, made.size()), unfit_reason));
    return made;
}

DeviceToleration toleration_of(const Json &json, FirstReason &unfit_reason)
{
    DeviceToleration made;
    std::string op = json.text("operator");
    made.key = json.text("key");
    made.exists = op == "Exists";
    made.value = json.text("value");
    made.effect = json.text("effect");
    made.json = json.dump();
    if (!op.empty() && op != "Exists" && op != "Equal")
        unfit_reason.add("a toleration's operator is not supported");
    return made;
}

void read_mode(const Json &json, DeviceRequest &request,
               FirstReason &unfit_reason)
{
    std::string mode = json.text("allocationMode");
    request.all = mode == "All";
    if (!mode.empty() && mode != "All" && mode != "ExactCount")
        unfit_reason.add("an allocationMode is not supported");
    if (!json.at("count").present() || request.all)
        return;
    request.count = json.integer("count").value_or(0);
    if (request.count < 1)
        unfit_reason.add("a request's count is not a number of devices");
}

DeviceRequest request_of(const Json &json, std::string name,
                         FirstReason &unfit_reason)
{
    DeviceRequest request;
    request.name = std::move(name);
    request.class_name = json.text("deviceClassName");
    if (request.class_name.empty())
        unfit_reason.add("a request without deviceClassName is not supported");
    request.selectors = selectors_of(json, unfit_reason);
    read_mode(json, request, unfit_reason);
    request.admin_access = json.flag("adminAccess");
    for (const Json &item : json.items("tolerations"))
        request.tolerations.push_back(toleration_of(item, unfit_reason));
    for (const auto &[capacity, amount] : json.members("capacity/requests")) {
        auto value = Quantity::parse(amount.text());
        if (!value)
            unfit_reason.add(value.error().message);
        else if (*value < Quantity()) // which the API server lets pass
            unfit_reason.add(
                "a request for a negative capacity is not supported");
        request.capacity[capacity] = value.value_or(Quantity{});
    }
    return request;
}

std::size_t selector_text_of(const Json &request)
{
    std::size_t bytes = 0;
    for (const Json &item : request.items("selectors"))
        bytes += item.text("cel/expression").size();
    return bytes;
}

// Checks the size of all selectors before any of them is parsed.
void measure_selectors(const Json &spec, FirstReason &unfit_reason)
{
    std::size_t bytes = 0;
    for (const Json &group : spec.items("requests")) {
        bytes += selector_text_of(group.at("exactly"));
        for (const Json &choice : group.items("firstAvailable"))
            bytes += selector_text_of(choice);
    }
    if (bytes > max_selector_text)
        unfit_reason.add(
            std::format("its selectors have {} bytes together, and "
                        "at most {} are supported",
                        bytes, max_selector_text));
}

ClaimRequest claim_request_of(const Json &json, FirstReason &unfit_reason)
{
    ClaimRequest made;
    made.name = json.text("name");
    Json exactly = json.at("exactly");
    if (exactly.is_object())
        made.choices.push_back(request_of(exactly, made.name, unfit_reason));
    for (const Json &choice : json.items("firstAvailable"))
        made.choices.push_back(request_of(
            choice, made.name + "/" + choice.text("name"), unfit_reason));
    bool one_of = exactly.is_object() != !json.items("firstAvailable").empty();
    if (made.name.empty() || !one_of)
        unfit_reason.add("a request that is neither exactly nor firstAvailable "
                         "is not supported");
    return made;
}

DeviceConstraint constraint_of(const Json &json, FirstReason &unfit_reason)
{
    DeviceConstraint made;
    made.requests = texts_in(json, "requests");
    made.attribute = json.text("matchAttribute");
    std::string distinct = json.text("distinctAttribute");
    if (made.attribute.empty() == distinct.empty())
        unfit_reason.add("a constraint of an unknown kind is not supported");
    made.distinct = !distinct.empty();
    if (made.distinct)
        made.attribute = distinct;
    return made;
}

void read_metadata(const Json &metadata, ResourceClaim &claim)
{
    claim.key = {metadata.text("namespace"), metadata.text("name")};
    claim.uid = metadata.text("uid");
    claim.resource_version = metadata.text("resourceVersion");
    claim.deleting = metadata.at("deletionTimestamp").present();
    claim.has_finalizer = std::ranges::contains(
        texts_in(metadata, "finalizers"), delete_protection);
    Json annotations = metadata.at("annotations");
    claim.pod_claim_name = annotations.member(pod_claim_name).text();
    claim.for_extended_resources =
        annotations.member(extended_claim_annotation).text() == "true";
    for (const Json &owner : metadata.items("ownerReferences"))
        if (owner.flag("controller")) {
            claim.owner_uid = owner.text("uid");
            if (owner.text("kind") == "PodGroup")
                claim.pod_group = owner.text("name");
        }
}

// Frees the parsed selectors of a claim that requests no devices any more, or
// never can.
void forget_trees(ResourceClaim &claim)
{
    for (ClaimRequest &group : claim.requests)
        for (DeviceRequest &choice : group.choices)
            for (CelSelector &selector : choice.selectors)
                selector.forget_tree();
}

// The API server takes a writer's name from its User-Agent.
bool wrote_allocation(const Json &fields)
{
    return fields.text("manager") == names::manager &&
           fields.at("fieldsV1")
               .member("f:status")
               .member("f:allocation")
               .present();
}

// Reads amounts; negative ones and those that are not quantities are left out.
Capacities quantities_in(const Json &json)
{
    Capacities made;
    for (const auto &[name, amount] : json.members())
        if (auto value = Quantity::parse(amount.text());
            value && value->nanos() >= 0)
            made[name] = *value;
    return made;
}

void read_status(const Json &status, ResourceClaim &claim)
{
    claim.allocated = status.at("allocation").is_object();
    for (const Json &result : status.items("allocation/devices/results")) {
        if (result.flag("adminAccess"))
            continue;
        claim.devices.push_back({result.text("driver"), result.text("pool"),
                                 result.text("device")});
        if (result.text("shareID").empty())
            continue;
        claim.in_shares.insert(claim.devices.back());
        add_capacities(claim.consumed[claim.devices.back()],
                       quantities_in(result.at("consumedCapacity")));
    }
    Json places = status.at("allocation/nodeSelector");
    if (places.present()) { // one that is not understood: nowhere
        claim.places = node_selector(places).value_or(NodeSelector{});
        normalize(*claim.places);
    }
    for (const Json &one : status.items("reservedFor"))
        claim.reserved_for.push_back(
            {one.text("resource"), one.text("name"), one.text("uid")});
}

} // namespace

bool ResourceClaim::is_reserved_for(const std::string &pod_uid) const
{
    return std::ranges::any_of(reserved_for, [&](const ClaimConsumer &one) {
        return one.resource == "pods" && one.uid == pod_uid;
    });
}

ResourceClaim resource_claim_from(const Json &json, std::string_view text)
{
    ResourceClaim claim;
    FirstReason unfit_reason(claim.unfit_reason);
    read_metadata(json.at("metadata"), claim);
    Json spec = json.at("spec/devices");
    measure_selectors(spec, unfit_reason);
    for (const Json &item : spec.items("requests"))
        claim.requests.push_back(claim_request_of(item, unfit_reason));
    for (const Json &item : spec.items("constraints"))
        claim.constraints.push_back(constraint_of(item, unfit_reason));
    claim.config = configs_in(json, text, "spec/devices/config", unfit_reason);
    read_status(json.at("status"), claim);
    if (claim.allocated || unfit_reason.any())
        forget_trees(claim);
    claim.allocated_by_us =
        claim.allocated &&
        std::ranges::any_of(json.items("metadata/managedFields"),
                            wrote_allocation);
    return claim;
}

ResourceClaim watched_claim(const Json &json)
{
    std::string text = json.dump();
    ResourceClaim claim = resource_claim_from(json, text);
    // The text of a claim with parameters is not kept: their bytes may differ
    // from those of the API server.
    if (claim.config.empty() && !claim.allocated && !claim.deleting &&
        text.size() <= longest_text)
        claim.text = std::move(text);
    return claim;
}

DeviceClass device_class_from(const Json &json, std::string_view text)
{
    DeviceClass made;
    FirstReason unfit_reason(made.unfit_reason);
    made.name = json.text("metadata/name");
    made.created = parse_time(json.text("metadata/creationTimestamp"))
                       .value_or(std::chrono::sys_seconds{});
    made.selectors = selectors_of(json.at("spec"), unfit_reason);
    made.config = configs_in(json, text, "spec/config", unfit_reason);
    made.extended_resource_name = json.text("spec/extendedResourceName");
    return made;
}

} // namespace bridge
