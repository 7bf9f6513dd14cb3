// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/extended_claim.h"

#include "agent/objects/owner_reference.h"
#include "common/base/json.h"
#include "common/base/stable_hash.h"

#include <algorithm>
#include <cstdint>
#include <format>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// The API server's rules for names from a generateName.
constexpr std::size_t max_base = 58;
constexpr std::size_t max_generate_name = 253;
constexpr std::size_t suffix_size = 5;
constexpr std::string_view suffix_letters = "bcdfghjklmnpqrstvwxz2456789";

std::string base_name(const Pod &pod)
{
    return pod.key.name + "-extended-resources-";
}

std::string suffix_for(const std::string &uid)
{
    std::uint64_t hash = stable_hash(uid);
    std::string suffix;
    for (std::size_t i = 0; i < suffix_size; i++) {
        suffix += suffix_letters[hash % suffix_letters.size()];
        hash /= suffix_letters.size();
    }
    return suffix;
}

struct Request {
    std::string name;
    std::string class_name;
    std::int64_t count = 0;
    std::size_t container = 0; // its index
};

struct Plan {
    std::vector<Request> requests;
    std::vector<RequestMapping> mappings;
};

// The requests and mappings of all containers for one resource, as
// kube-scheduler builds them. Long-lived containers, sidecars included, each
// have a request of their own. An init container uses the devices of the
// containers after it; the most that any init container needs beyond these is
// requested once, for all of them.
class OneResource {
  public:
    OneResource(const Pod &pod, std::string resource, std::string class_name)
        : pod_(pod), resource_(std::move(resource)),
          class_name_(std::move(class_name))
    {
    }

    void add_to(Plan &plan)
    {
        for (bool first : {false, true})
            for (const ContainerAsks &asks : pod_.extended)
                for (const ExtendedAmount &amount : asks.amounts)
                    if (amount.resource == resource_ &&
                        asks.ends_first == first)
                        first ? share(asks, amount) : add(asks, amount);
        for (RequestMapping &mapping : shared_)
            if (surplus_ && surplus_names_.contains(mapping.request))
                mapping.request = surplus_->name;
        if (surplus_)
            plan.requests.push_back(*surplus_);
        std::ranges::move(lasting_, std::back_inserter(plan.requests));
        std::ranges::move(own_, std::back_inserter(plan.mappings));
        std::ranges::move(shared_, std::back_inserter(plan.mappings));
    }

  private:
    Request request(const ContainerAsks &asks, const ExtendedAmount &amount,
                    std::int64_t count) const
    {
        return {
            std::format("container-{}-request-{}", asks.index, amount.place),
            class_name_, count, asks.index};
    }

    void add(const ContainerAsks &asks, const ExtendedAmount &amount)
    {
        lasting_.push_back(request(asks, amount, amount.count));
        own_.push_back({asks.container, resource_, lasting_.back().name});
    }

    void share(const ContainerAsks &asks, const ExtendedAmount &amount)
    {
        std::int64_t lacks = amount.count;
        for (const Request &later : lasting_) {
            if (later.container < asks.index)
                continue;
            shared_.push_back({asks.container, resource_, later.name});
            lacks -= later.count;
            if (lacks <= 0)
                return;
        }
        Request more = request(asks, amount, lacks);
        shared_.push_back({asks.container, resource_, more.name});
        surplus_names_.insert(more.name);
        if (!surplus_ || surplus_->count < more.count)
            surplus_ = std::move(more);
    }

    const Pod &pod_;
    const std::string resource_;
    const std::string class_name_;
    std::vector<Request> lasting_; // by container
    std::optional<Request> surplus_;
    std::set<std::string> surplus_names_;
    std::vector<RequestMapping> own_;
    std::vector<RequestMapping> shared_;
};

std::set<std::string> resources_of(const Pod &pod)
{
    std::set<std::string> names;
    for (const ContainerAsks &asks : pod.extended)
        for (const ExtendedAmount &amount : asks.amounts)
            names.insert(amount.resource);
    return names;
}

// Returns what to request from Slurm for a device plugin's resource, or nothing
// if it is not one.
std::optional<PluginWish> plugin_wish(const Pod &pod,
                                      const std::string &resource,
                                      const PluginGres &plugins)
{
    constexpr std::int64_t most = 1'000'000; // far beyond what a node can have
    auto gres = plugins.find(resource);
    auto asked = pod.requests.others.find(resource);
    if (gres == plugins.end() || asked == pod.requests.others.end())
        return std::nullopt;
    return PluginWish{resource, gres->second.gres, gres->second.type,
                      std::min(asked->second, most)};
}

Result<Plan> plan_for(const Pod &pod, const DeviceClasses &classes,
                      const PluginGres &plugins)
{
    Plan plan;
    for (const std::string &resource : resources_of(pod)) {
        const DeviceClass *behind = class_behind(classes, resource);
        if (!behind && plugin_wish(pod, resource, plugins))
            continue;
        if (!behind)
            return fail(Code::not_found,
                        "the resource " + resource +
                            " is not supported by slurm-k8s-bridge yet: no "
                            "DeviceClass offers it, and DeviceGres in k8s.conf "
                            "does not name it");
        OneResource(pod, resource, behind->name).add_to(plan);
    }
    std::int64_t devices = 0;
    for (const Request &request : plan.requests)
        devices += request.count;
    if (plan.requests.size() > max_claim_requests ||
        devices > max_claim_devices)
        return fail(Code::rejected,
                    std::format("its extended resources are {} devices in {} "
                                "requests, more than the {} that a "
                                "ResourceClaim can have",
                                devices, plan.requests.size(),
                                max_claim_devices));
    std::ranges::sort(plan.requests, {}, &Request::name);
    return plan;
}

JsonValue request_json(const Request &request)
{
    auto exactly = JsonValue::object({{"deviceClassName", request.class_name},
                                      {"allocationMode", "ExactCount"},
                                      {"count", request.count}});
    return JsonValue::object(
        {{"name", request.name}, {"exactly", std::move(exactly)}});
}

JsonValue metadata_json(const Pod &pod)
{
    auto metadata = JsonValue::object({{"name", extended_claim_key(pod).name}});
    if (base_name(pod).size() <= max_generate_name)
        metadata.add("generateName", base_name(pod));
    auto owner = owner_reference(pod.key.name, pod.uid);
    owner.add("controller", true);
    metadata.add("namespace", pod.key.ns)
        .add("annotations", JsonValue::object({{extended_claim_annotation,
                                                JsonValue("true")}}))
        .add("finalizers", JsonValue::array({delete_protection}))
        .add("ownerReferences", JsonValue::array({std::move(owner)}));
    return metadata;
}

std::string claim_body(const Pod &pod, const std::vector<Request> &requests)
{
    JsonValue::Array items;
    for (const Request &request : requests)
        items.push_back(request_json(request));
    auto devices =
        JsonValue::object({{"requests", JsonValue::array(std::move(items))}});
    auto spec = JsonValue::object({{"devices", std::move(devices)}});
    return JsonValue::object({{"apiVersion", "resource.k8s.io/v1"},
                              {"kind", "ResourceClaim"},
                              {"metadata", metadata_json(pod)},
                              {"spec", std::move(spec)}})
        .dump();
}

// Returns the claim as the agent will read it once it exists, but without a
// resourceVersion.
ResourceClaimPtr claim_to_make(const Pod &pod, const std::string &body)
{
    auto json = Json::parse(body);
    ResourceClaim claim =
        json ? resource_claim_from(*json, body) : ResourceClaim{};
    claim.key = extended_claim_key(pod);
    claim.uid = uid_until_made(pod.uid);
    return std::make_shared<const ResourceClaim>(std::move(claim));
}

bool is_plain(const DeviceRequest &request)
{
    return request.selectors.empty() && !request.all && !request.admin_access &&
           request.tolerations.empty() && request.capacity.empty();
}

bool same_request(const ClaimRequest &one, const ClaimRequest &other)
{
    if (one.name != other.name || one.choices.size() != 1 ||
        other.choices.size() != 1)
        return false;
    const DeviceRequest &a = one.choices.front();
    const DeviceRequest &b = other.choices.front();
    return a.name == b.name && a.class_name == b.class_name &&
           a.count == b.count && is_plain(a) && is_plain(b);
}

bool asks_the_same(const ResourceClaim &there, const ResourceClaim &wanted)
{
    return there.unfit_reason.empty() && there.constraints.empty() &&
           there.config.empty() &&
           std::ranges::equal(there.requests, wanted.requests, same_request);
}

std::string unusable_claim_reason(const ResourceClaim &there, const Pod &pod,
                                  const ResourceClaim &wanted)
{
    if (!is_extended_claim(there, pod))
        return std::format("The ResourceClaim {} was not made for the Pod's "
                           "extended resources, but has the name that theirs "
                           "must have.",
                           there.key.name);
    if (there.deleting)
        return std::format("The ResourceClaim {} is being deleted.",
                           there.key.name);
    if (!asks_the_same(there, wanted))
        return std::format(
            "The ResourceClaim {} is not what the Pod's extended "
            "resources need now.",
            there.key.name);
    return {};
}

} // namespace

ObjectKey extended_claim_key(const Pod &pod)
{
    return {pod.key.ns,
            base_name(pod).substr(0, max_base) + suffix_for(pod.uid)};
}

bool is_extended_claim(const ResourceClaim &claim, const Pod &pod)
{
    return claim.for_extended_resources && claim.owner_uid == pod.uid;
}

bool asks_as(const ResourceClaim &claim, const std::string &body)
{
    auto json = Json::parse(body);
    return json && asks_the_same(claim, resource_claim_from(*json, body));
}

std::string uid_until_made(const std::string &pod_uid)
{
    return "extended resources of " + pod_uid;
}

const DeviceClass *class_behind(const DeviceClasses &classes,
                                const std::string &resource)
{
    constexpr std::string_view prefix = class_resource_prefix;
    if (resource.starts_with(prefix)) {
        auto found = classes.find(resource.substr(prefix.size()));
        return found == classes.end() ? nullptr : &found->second;
    }
    const DeviceClass *newest = nullptr;
    for (const auto &[name, one] : classes) // by name
        if (one.extended_resource_name == resource &&
            (!newest || newest->created < one.created))
            newest = &one;
    return newest;
}

bool wants_extended_claim(const Pod &pod, const DeviceClasses &classes,
                          const PluginGres &plugins)
{
    return std::ranges::any_of(resources_of(pod),
                               [&](const std::string &resource) {
                                   return class_behind(classes, resource) ||
                                          !plugins.contains(resource);
                               });
}

ExtendedNeeds extended_needs(const Pod &pod, const DeviceClasses &classes,
                             const ResourceClaimPtr &there,
                             const PluginGres &plugins)
{
    ExtendedNeeds needs;
    if (pod.extended.empty())
        return needs;
    // A Pod that runs without a claim keeps its device plugins' devices,
    // whatever classes exist since.
    bool without_claim = pod.bound() && pod.extended_claim.empty();
    for (const std::string &resource : resources_of(pod))
        if (without_claim || !class_behind(classes, resource))
            if (auto wish = plugin_wish(pod, resource, plugins))
                needs.plugins.push_back(std::move(*wish));
    if (pod.bound()) { // with whatever it has
        if (there && is_extended_claim(*there, pod))
            needs.claim = there;
        return needs;
    }
    auto plan = plan_for(pod, classes, plugins);
    if (!plan) {
        needs.unfit_reason = plan.error().message;
        return needs;
    }
    if (plan->requests.empty())
        return needs;
    std::string body = claim_body(pod, plan->requests);
    ResourceClaimPtr wanted = claim_to_make(pod, body);
    if (there)
        needs.reason = unusable_claim_reason(*there, pod, *wanted);
    if (!needs.reason.empty())
        return needs;
    needs.claim = there ? there : wanted;
    if (!there)
        needs.body = std::move(body);
    needs.mappings = std::move(plan->mappings);
    return needs;
}

std::string no_device_reason(const ExtendedNeeds &needs, const Node &node,
                             bool has_slurmd)
{
    for (const RequestMapping &one : needs.mappings)
        if (offered(node, one.resource) > 0)
            return std::format("its Node offers {} by a device plugin",
                               one.resource);
    for (const PluginWish &one : needs.plugins) {
        if (has_slurmd)
            return std::format("its Node has a slurmd, and its device plugin "
                               "chooses the device of {}, not Slurm",
                               one.resource);
        if (offered(node, one.resource) == 0)
            return std::format("no device plugin of its Node offers {}",
                               one.resource);
    }
    return {};
}

} // namespace bridge
