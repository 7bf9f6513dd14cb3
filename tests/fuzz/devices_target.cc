// SPDX-License-Identifier: GPL-2.0-or-later
// Devices, and what users say about them.
#include "agent/cel/cel.h"
#include "agent/cel/regex.h"
#include "agent/claims/allocation.h"
#include "agent/claims/check.h"
#include "agent/claims/pools.h"
#include "agent/claims/resource_claim.h"
#include "agent/gres/amounts.h"
#include "agent/gres/extended_claim.h"
#include "agent/gres/index.h"
#include "agent/gres/inventory.h"
#include "agent/nodes/devices.h"
#include "agent/nodes/gres.h"
#include "agent/objects/objects.h"
#include "agent/objects/semver.h"
#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/base/utf8.h"
#include "common/contract/capacity_gres.h"
#include "common/contract/device_gres.h"
#include "common/slurm/job_gres.h"
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

namespace {

Device some_device()
{
    Device device;
    device.driver = "gpu.example.com";
    device.attributes = {{"index", std::int64_t{2}},
                         {"model", std::string("A100")},
                         {"healthy", true},
                         {"version", Semver{1, 10, 2, {}}},
                         {"other.example.com/node", std::int64_t{0}}};
    device.capacity = {{"memory", {Quantity(40, Quantity::Format::binary)}}};
    return device;
}

void cel(std::string_view input)
{
    auto selector = CelSelector::parse(input);
    if (!selector) {
        promise(selector.error().code == Code::rejected);
        return;
    }
    promise(selector->text() == input);
    auto matches = selector->matches(some_device());
    promise(matches || matches.error().code == Code::rejected);
    auto brackets = CelSelector::parse("(" + std::string(input) + "\n)");
    if (!brackets)
        return; // it was as long or deep as is allowed
    auto again = brackets->matches(some_device());
    promise(again.has_value() == matches.has_value());
    promise(!matches || *again == *matches);
}

// The pattern's line, then the text.
void regex(std::string_view input)
{
    std::size_t line = input.find('\n');
    std::string pattern(input.substr(0, line));
    std::string_view text =
        line == input.npos ? std::string_view{} : input.substr(line + 1);
    auto plain = Regex::compile(pattern);
    if (!plain) {
        promise(plain.error().code == Code::rejected);
        return;
    }
    if (as_utf8(text) != text)
        return; // no expression matches what is no character
    bool matches = plain->matches(text);
    auto anywhere = Regex::compile("^(?s:.*)(?:" + pattern + ")(?s:.*)$");
    promise(!anywhere || anywhere->matches(text) == matches);
    auto twice = Regex::compile("(?:" + pattern + ")|(?:" + pattern + ")");
    promise(!twice || twice->matches(text) == matches);
}

void semver(std::string_view input)
{
    auto version = Semver::parse(input);
    if (!version)
        return;
    promise(*version == *version);
    Semver next = *version;
    next.prerelease.emplace_back("0");
    promise(version->prerelease.empty() ? next < *version : next > *version);
}

// {"slices": […], "node": …, "selector": "CEL"}
void slices(std::string_view input)
{
    auto json = Json::parse(input);
    if (!json)
        return;
    Node node = node_from(json->at("node"));
    auto selector = CelSelector::parse(json->text("selector"));
    std::vector<ResourceSlicePtr> slices;
    for (const Json &item : json->items("slices"))
        slices.push_back(
            std::make_shared<const ResourceSlice>(resource_slice_from(item)));
    DevicesNow now;
    for (const DevicePool &pool : device_pools(slices)) {
        if (!pool.usable())
            continue;
        now.known_pools.emplace(pool.driver, pool.name);
        std::set<std::string> names;
        for (const DevicePtr &device : pool.devices) {
            promise(names.insert(device->name).second);
            promise(counters_suffice(*device, counters_left(pool, {})) ||
                    !device->consumes.empty());
            auto matches = selector ? selector->matches(*device) : false;
            if (is_on(*device, node) &&
                unsupported_device_reason(*device).empty() &&
                matches.value_or(false))
                now.present.push_back({"gpu", "some", device->id()});
        }
    }
    DeviceIndex index;
    index.update(now, {});
    promise(!index.update(now, {}));
    for (const GresDevice &device : now.present)
        if (auto where = index.find(device.id))
            promise(index.at(*where)->id == device.id);
    auto read = DeviceIndex::parse(index.text());
    promise(read && *read == index);
}

// {"claim": …, "class": …, "slices": […], "node": …}: the devices of all slices
// are chosen for its first request.
void claim(std::string_view input)
{
    auto json = Json::parse(input);
    auto text = json_text(input, "claim");
    auto class_text = json_text(input, "class");
    if (!json || !text || !class_text)
        return;
    ResourceClaim claim = resource_claim_from(json->at("claim"), *text);
    std::string kept = protected_claim(*text);
    if (auto read = Json::parse(kept); !kept.empty())
        promise(read && resource_claim_from(*read, kept).has_finalizer);
    DeviceClass made = device_class_from(json->at("class"), *class_text);
    DeviceClasses classes{{made.name, made}};
    std::vector<ResourceSlicePtr> slices;
    for (const Json &item : json->items("slices"))
        slices.push_back(
            std::make_shared<const ResourceSlice>(resource_slice_from(item)));
    auto pools = device_pools(slices);
    std::vector<ChosenDevice> chosen;
    for (const DevicePool &pool : pools)
        for (const DevicePtr &device : pool.devices)
            if (!claim.requests.empty() && !claim.requests[0].choices.empty())
                chosen.push_back(
                    {claim.requests[0].choices[0].name, device,
                     device->allow_multiple_allocations ? "share" : ""});
    Node node = node_from(json->at("node"));
    CelBudget budget(CelSelector::max_sum);
    auto reason =
        no_allocation_reason(claim, classes, chosen, pools, node, budget);
    promise(reason || reason.error().code != Code::internal);
    if (!claim.unfit_reason.empty() || !made.unfit_reason.empty())
        return;
    std::string allocation =
        allocation_text(claim, classes, chosen, node.name, {});
    promise(Json::parse(allocation).has_value());
    Pod pod;
    pod.uid = "uid";
    std::string written =
        reserved_claim(*text, claim.allocated ? "" : allocation, pod);
    if (auto read = Json::parse(written); !written.empty())
        promise(read && resource_claim_from(*read, written).allocated);
}

// {"pod": …, "classes": […]}: each container gets what it asks for, by requests
// that the claim has, and the claim is known again.
void extended(std::string_view input)
{
    auto json = Json::parse(input);
    if (!json)
        return;
    Pod pod = pod_from(json->at("pod"));
    pod.node_name.clear();
    DeviceClasses classes;
    for (const Json &item : json->items("classes")) {
        DeviceClass made = device_class_from(item, item.dump());
        if (!made.name.empty()) // the API server has none
            classes[made.name] = made;
    }
    ExtendedNeeds needs = extended_needs(pod, classes, nullptr);
    promise(needs.reason.empty());
    promise((needs.claim != nullptr) ==
            (needs.unfit_reason.empty() && !pod.extended.empty()));
    if (!needs.claim)
        return;
    std::map<std::string, std::int64_t> counts; // by request
    std::int64_t sum = 0;
    for (const ClaimRequest &request : needs.claim->requests) {
        promise(request.choices.size() == 1 && request.choices[0].count > 0);
        promise(counts.emplace(request.name, request.choices[0].count).second);
        sum += request.choices[0].count;
    }
    promise(counts.size() <= max_claim_requests && sum <= max_claim_devices);
    std::map<std::pair<std::string, std::string>, std::int64_t> gets;
    for (const RequestMapping &one : needs.mappings) {
        promise(counts.contains(one.request));
        gets[{one.container, one.resource}] += counts[one.request];
    }
    for (const ContainerAsks &asks : pod.extended)
        for (const ExtendedAmount &amount : asks.amounts)
            promise(gets[{asks.container, amount.resource}] >= amount.count);
    if (!is_extended_claim(*needs.claim, pod))
        return; // a uid that is no text
    ExtendedNeeds again = extended_needs(pod, classes, needs.claim);
    promise(again.reason.empty() && again.body.empty() &&
            again.mappings == needs.mappings);
}

// The text of a node's extra.
void device_index(std::string_view input)
{
    auto index = DeviceIndex::parse(input);
    if (!index) {
        promise(index.error().code == Code::rejected);
        return;
    }
    auto again = DeviceIndex::parse(index->text());
    promise(again && *again == *index);
    DeviceIndex emptied = *index;
    emptied.update({}, {});
    for (const auto &[gres, slots] : index->slots())
        for (std::uint32_t i = 0; i < slots.size(); i++)
            promise(emptied.at({gres, i})->id == slots[i].id);
    DevicesNow gone;
    for (const auto &[gres, slots] : index->slots())
        for (const DeviceSlot &slot : slots)
            gone.known_pools.emplace(slot.id.driver, slot.id.pool);
    emptied.compact(gone);
    promise(emptied.text().empty());
}

// What Slurm says of a node: its GRES, those that jobs have, its extra.
void node_gres(std::string_view input)
{
    std::vector<GresCount> counts = gres_counts(input);
    promise(gres_counts(gres_text(counts)) == counts);
    GresUsed used = gres_used(input);
    for (const GresIndex &where : used.indexes)
        promise(where.index < DeviceIndex::max_slots);
    std::string word = device_word(input);
    std::string others = with_device_word(input, "");
    promise(device_word(others).empty());
    promise(device_word(with_device_word(input, word)) == word);
    promise(with_device_word(with_device_word(input, word), "") == others);

    const std::vector<CapacityGres> counted{
        {"d", "memory", "gpu",
         Quantity(1000000000, Quantity::Format::decimal)}};
    GresCounts amounts = amounts_in(input, counted);
    promise(amounts_in(amounts_text(amounts), counted) == amounts);
}

void device_gres(std::string_view input)
{
    if (auto counted = parse_capacity_gres(input))
        for (const CapacityGres &one : *counted)
            promise(one.unit > Quantity{} && !one.gres.empty());
    auto list = parse_device_gres(input);
    if (!list) {
        promise(list.error().code == Code::rejected);
        return;
    }
    promise(parse_device_gres(text_of(*list)) == *list);
}

// The annotation of a Node that has a slurmd, too.
void hybrid(std::string_view input)
{
    DeviceInventory inventory;
    for (const char *name : {"g0", "g1"}) {
        Device device = some_device();
        device.pool = "n1";
        device.name = name;
        device.attributes["uuid"] = std::string("GPU-") + name;
        inventory.present["n1"].push_back({"gpu", "a100", device.id()});
        inventory.devices[device.id()] = std::make_shared<const Device>(device);
    }
    Node node;
    node.name = "n1";
    node.annotations[devices_annotation] = input;
    SlurmNode known;
    known.gres = "gpu:a100:2";
    NodeDevices made = hybrid_devices({&inventory, nullptr, {}}, node, known);
    promise(made.warning.empty() != made.index.slots().empty());
    for (const GresCount &count : made.index.counts())
        promise(count.gres == "gpu" && count.count <= 2);
}

void job_gres(std::string_view input)
{
    auto list = parse_job_gres(input);
    if (!list) {
        promise(list.error().code == Code::rejected);
        return;
    }
    for (const JobGres &gres : *list) {
        promise(!gres.gres.empty() && !gres.type.contains(':'));
        promise(gres.indexes.empty() || gres.indexes.size() == gres.count);
        promise(std::ranges::is_sorted(gres.indexes));
        promise(std::set(gres.indexes.begin(), gres.indexes.end()).size() ==
                gres.indexes.size());
    }
}

constexpr FuzzTarget targets[] = {{"cel", cel},
                                  {"job_gres", job_gres},
                                  {"regex", regex},
                                  {"semver", semver},
                                  {"slices", slices},
                                  {"claim", claim},
                                  {"extended", extended},
                                  {"device_index", device_index},
                                  {"device_gres", device_gres},
                                  {"hybrid_devices", hybrid},
                                  {"node_gres", node_gres}};

} // namespace

std::span<const FuzzTarget> device_targets()
{
    return targets;
}

} // namespace bridge
