// SPDX-License-Identifier: GPL-2.0-or-later
// tests/data/claims.json has, of each claim, what kube-scheduler 1.36.3 read
// and what it then wrote: with the finalizer, with the allocation, and for a
// second Pod.
#include "agent/claims/allocation.h"

#include "common/base/json.h"
#include "common/base/json_text.h"
#include "common/kube/text.h"
#include "tests/unit/fakes/test_data.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

// Objects of equal members are equal, whatever their order.
std::string sorted_text(const Json &json)
{
    std::vector<std::string> parts;
    if (json.is_object())
        for (const auto &[name, value] : json.members())
            parts.push_back(JsonValue(name).dump() + ":" + sorted_text(value));
    else if (json.is_array())
        for (const Json &item : json.items())
            parts.push_back(sorted_text(item));
    else
        return json.dump();
    if (json.is_object())
        std::ranges::sort(parts);
    std::string text = json.is_object() ? "{" : "[";
    for (const std::string &part : parts)
        text += part + ",";
    return text;
}

std::string sorted_text(const std::string &text)
{
    return sorted_text(json_of(text));
}

Json golden(const std::string &path)
{
    return json_file("claims.json").at(path);
}

DeviceClass class_of(const std::string &text)
{
    return device_class_from(json_of(text), text);
}

DeviceClasses classes()
{
    return {
        {"gpu.example.com", class_of(json_file("device-class.json").dump())},
        {"cap.example.com",
         class_of(R"({"metadata":{"name":"cap.example.com"},"spec":{}})")}};
}

// As the golden cluster's slices had them.
DevicePtr device_of(const DeviceId &id)
{
    Device device;
    device.driver = id.driver;
    device.pool = id.pool;
    device.name = id.device;
    auto scope = std::make_shared<DeviceScope>();
    scope->kind = DeviceScope::Kind::node;
    scope->node = id.pool;
    device.scope = scope;
    if (id.device.starts_with("nic")) {
        Quantity gib = *Quantity::parse("1Gi");
        device.allow_multiple_allocations = true;
        device.capacity["memory"] = {*Quantity::parse("8Gi")};
        device.capacity["bandwidth"] = {
            *Quantity::parse("10Gi"),
            CapacityPolicy{gib, {}, gib, std::nullopt, gib}};
    }
    return std::make_shared<const Device>(std::move(device));
}

std::vector<ChosenDevice> chosen_in(const Json &written)
{
    std::vector<ChosenDevice> chosen;
    for (const Json &one : written.items("status/allocation/devices/results"))
        chosen.push_back({one.text("request"),
                          device_of({one.text("driver"), one.text("pool"),
                                     one.text("device")}),
                          one.text("shareID")});
    return chosen;
}

std::chrono::sys_seconds written_at(const Json &written)
{
    auto time =
        parse_time(written.text("status/allocation/allocationTimestamp"));
    REQUIRE(time.has_value());
    return *time;
}

Pod pod_in(const Json &written, const char *path)
{
    Pod pod;
    pod.key.name = written.text(std::string(path) + "/name");
    pod.uid = written.text(std::string(path) + "/uid");
    return pod;
}

constexpr const char *claims[] = {"tmpl",       "first-available",
                                  "consumable", "shared",
                                  "extres",     "extres-implicit"};

ResourceClaim claim_of(const std::string &text)
{
    return resource_claim_from(json_of(text), text);
}

} // namespace

TEST_CASE("a claim gets the finalizer as kube-scheduler gives it")
{
    for (const char *name : claims) {
        CAPTURE(name);
        Json both = golden(name);
        std::string read = both.at("read").dump();

        std::string made = protected_claim(read);

        CHECK(sorted_text(made) == sorted_text(both.at("protected")));
        CHECK(claim_of(made).has_finalizer);
        CHECK(protected_claim(made) == "");
    }
    CHECK(protected_claim("") == "");
    CHECK(protected_claim("[]") == "");
    CHECK(protected_claim(R"({"metadata":{"finalizers":["a/b"],"x":1.10}})") ==
          R"({"metadata":{"finalizers":["a/b",)"
          R"("resource.kubernetes.io/delete-protection"],"x":1.10}})");
}

TEST_CASE("an allocation is written as kube-scheduler writes it")
{
    for (const char *name : claims) {
        CAPTURE(name);
        Json both = golden(name);
        Json written = both.at("allocated");
        std::string read = json_with(
            both.at("protected").dump(), "metadata",
            written.at("metadata").dump()); // with its resourceVersion
        auto chosen = chosen_in(written);
        REQUIRE(!chosen.empty());

        std::string allocation =
            allocation_text(claim_of(read), classes(), chosen,
                            chosen.front().device->pool, written_at(written));
        std::string made = reserved_claim(
            read, allocation, pod_in(written, "status/reservedFor/0"));

        CHECK(sorted_text(made) == sorted_text(written));
    }
}

TEST_CASE("a second Pod joins as kube-scheduler lets it")
{
    Json both = golden("shared");
    Json written = both.at("reserved");
    std::string read = json_with(both.at("allocated").dump(), "metadata",
                                 written.at("metadata").dump());

    std::string made =
        reserved_claim(read, "", pod_in(written, "status/reservedFor/1"));

    CHECK(sorted_text(made) == sorted_text(written));
    CHECK(claim_of(made).reserved_for.size() == 2);
    CHECK(claim_of(made).allocated);
}

TEST_CASE("a reservation that must not be written is none")
{
    Json both = golden("shared");
    std::string free = both.at("protected").dump();
    std::string taken = both.at("allocated").dump();
    Pod pod = pod_in(both.at("reserved"), "status/reservedFor/1");
    Pod first = pod_in(both.at("allocated"), "status/reservedFor/0");

    CHECK(reserved_claim(free, "", pod) == "");
    CHECK(reserved_claim(taken, "{}", pod) == ""); // it is immutable
    CHECK(reserved_claim(taken, "", first) == "");
    CHECK(reserved_claim("{}", "{}", pod) == "");
    CHECK(reserved_claim("no claim", "{}", pod) == "");

    std::string others = "[";
    for (int i = 0; i < 256; i++)
        others += (i ? "," : "") + std::string(R"({"uid":")") +
                  std::to_string(i) + "\"}";
    CHECK(reserved_claim(R"({"metadata":{},"status":{"allocation":{},)"
                         R"("reservedFor":)" +
                             others + "]}}",
                         "", pod) == "");
}

TEST_CASE("opaque parameters keep their bytes")
{
    std::string parameters =
        R"({"b":1.10,"a":"\u003c\u003e","n":1e999,"i":12345678901234567890123})";
    std::string config =
        R"([{"opaque":{"driver":"d","parameters":)" + parameters + "}}]";
    std::string text =
        R"({"metadata":{"name":"c"},"spec":{"devices":{"requests":[
            {"name":"r","exactly":{"deviceClassName":"k"}}],"config":)" +
        config + "}}}";
    DeviceClasses of{
        {"k", class_of(R"({"metadata":{"name":"k"},"spec":{"config":)" +
                       config + "}}")}};

    std::vector<ChosenDevice> chosen = {{"r", device_of({"d", "n1", "g"}), ""}};
    std::string made = allocation_text(claim_of(text), of, chosen, "n1", {});

    CHECK(made.contains(
        R"({"source":"FromClass","requests":["r"],"opaque":{"driver":"d",)"
        R"("parameters":)" +
        parameters + "}}"));
    CHECK(made.contains(R"({"source":"FromClaim","opaque":{"driver":"d",)"
                        R"("parameters":)" +
                        parameters + "}}"));
}

TEST_CASE(
    "each class is configured once, and a claim's words for who has devices")
{
    std::string text = R"({"metadata":{"name":"c"},"spec":{"devices":{
        "requests":[
            {"name":"a","exactly":{"deviceClassName":"k","adminAccess":true,
             "tolerations":[{"key":"t","operator":"Exists"}]}},
            {"name":"b","firstAvailable":[{"name":"x","deviceClassName":"l"},
                                          {"name":"y","deviceClassName":"k"}]}],
        "config":[{"requests":["b"],"opaque":{"driver":"1"}},
                  {"requests":["b/x"],"opaque":{"driver":"2"}},
                  {"requests":["b/y","a"],"opaque":{"driver":"3"}}]}}})";
    auto of = [](const std::string &name) {
        return class_of(R"({"metadata":{"name":")" + name +
                        R"("},"spec":{"config":[{"opaque":{"driver":")" + name +
                        R"("}}]}})");
    };
    std::vector<ChosenDevice> chosen = {
        {"a", device_of({"d", "n1", "g"}), ""},
        {"b/y", device_of({"d", "n1", "h"}), ""}};

    Json made = json_of(allocation_text(
        claim_of(text), {{"k", of("k")}, {"l", of("l")}}, chosen, "n1", {}));

    CHECK(made.at("devices/config").dump() ==
          R"([{"source":"FromClass","requests":["a","b/y"],)"
          R"("opaque":{"driver":"k"}},)"
          R"({"source":"FromClaim","requests":["b"],"opaque":{"driver":"1"}},)"
          R"({"source":"FromClaim","requests":["b/y","a"],)"
          R"("opaque":{"driver":"3"}}])");
    CHECK(made.at("devices/results/0").dump() ==
          R"({"request":"a","driver":"d","pool":"n1","device":"g",)"
          R"("adminAccess":true,)"
          R"("tolerations":[{"key":"t","operator":"Exists"}]})");
}

TEST_CASE("a claim is bound to where all of its devices can be used")
{
    std::string text = R"({"metadata":{"name":"c"},"spec":{"devices":{
        "requests":[{"name":"r","exactly":{"deviceClassName":"k"}}]}}})";
    auto selector = [&](std::vector<DeviceScope> scopes) {
        std::vector<ChosenDevice> chosen;
        for (const DeviceScope &scope : scopes) {
            Device device = *device_of({"d", "p", "g"});
            device.scope = std::make_shared<const DeviceScope>(scope);
            chosen.push_back({"r", std::make_shared<const Device>(device), ""});
        }
        return json_of(allocation_text(claim_of(text), {}, chosen, "n1", {}))
            .at("nodeSelector")
            .dump();
    };
    DeviceScope all;
    all.kind = DeviceScope::Kind::all;
    DeviceScope zone;
    zone.kind = DeviceScope::Kind::selector;
    zone.match_expressions = {R"({"key":"zone"})"};
    DeviceScope rack = zone;
    rack.match_expressions.push_back(R"({"key":"rack"})");
    DeviceScope node;
    node.kind = DeviceScope::Kind::node;

    CHECK(selector({all, all}) == "null");
    CHECK(selector({all, zone, rack}) ==
          R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone"},)"
          R"({"key":"rack"}]}]})");
    CHECK(selector({rack, node}) ==
          R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name",)"
          R"("operator":"In","values":["n1"]}]}]})");
}
