// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/pools.h"

#include "agent/objects/objects.h"
#include "common/base/json.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>
#include <format>

using namespace bridge;

namespace {

ResourceSlicePtr slice_of(const Json &json)
{
    return std::make_shared<const ResourceSlice>(resource_slice_from(json));
}

// Of pool p of driver d.
ResourceSlicePtr slice(const std::string &name, int generation, int count,
                       const std::string &rest)
{
    return slice_of(json_of(std::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"driver":"d","pool":{{)"
        R"("name":"p","generation":{},"resourceSliceCount":{}}},{}}}}})",
        name, generation, count, rest)));
}

std::string devices(const std::string &names)
{
    std::string made;
    for (char name : names)
        made +=
            std::format(R"({}{{"name":"{}"}})", made.empty() ? "" : ",", name);
    return R"("allNodes":true,"devices":[)" + made + "]";
}

std::string names_in(const DevicePool &pool)
{
    std::string names;
    for (const DevicePtr &device : pool.devices)
        names += device->name;
    return names;
}

DevicePool only_pool(std::vector<ResourceSlicePtr> slices)
{
    auto pools = device_pools(slices);
    REQUIRE(pools.size() == 1);
    return pools.front();
}

Device device(const std::string &text)
{
    ResourceSlicePtr made =
        slice("s", 1, 1, R"("allNodes":true,"devices":[)" + text + "]");
    REQUIRE(made->unfit_reason == "");
    REQUIRE(made->devices.size() == 1);
    return *made->devices.front();
}

Node node(const std::string &name, TextMap labels = {})
{
    Node node;
    node.name = name;
    node.labels = std::move(labels);
    return node;
}

} // namespace

TEST_CASE("a ResourceSlice is read as the API server wrote it")
{
    ResourceSlicePtr slice = slice_of(json_file("resource-slice.json"));

    CHECK(slice->unfit_reason == "");
    CHECK(slice->name == "n1-gpu");
    CHECK(slice->driver == "gpu.example.com");
    CHECK(slice->pool == "n1");
    CHECK(slice->generation == 1);
    REQUIRE(slice->devices.size() == 4);
    const Device &gpu = *slice->devices[2];
    CHECK(gpu.id().str() == "gpu.example.com/n1/gpu-2");
    CHECK(std::get<std::int64_t>(gpu.attributes.at("index")) == 2);
    CHECK(std::get<std::string>(gpu.attributes.at("model")) == "A100");
    CHECK(std::get<Semver>(gpu.attributes.at("driverVersion")) ==
          *Semver::parse("1.10.2"));
    CHECK(gpu.capacity.at("memory").value.text() == "40Gi");
    CHECK(is_on(gpu, node("n1")));
    CHECK_FALSE(is_on(gpu, node("n2")));
}

TEST_CASE("a device is read with everything that bears on its allocation")
{
    Device nic = device(R"({"name":"nic","allowMultipleAllocations":true,
        "bindsToNode":true,
        "attributes":{"up":{"bool":true},"x/y":{"string":"z"}},
        "capacity":{"bandwidth":{"value":"10Gi","requestPolicy":{
            "default":"1Gi","validRange":{"min":"1Gi","max":"8Gi",
            "step":"1Gi"}}},
            "slots":{"value":"8","requestPolicy":{"validValues":["1","2"]}}},
        "taints":[{"key":"k","value":"v","effect":"NoSchedule"}],
        "consumesCounters":[{"counterSet":"s","counters":{}}],
        "bindingConditions":["ready"],"bindingFailureConditions":["broken"]})");

    CHECK(nic.allow_multiple_allocations);
    CHECK(nic.binds_to_node);
    CHECK(std::get<bool>(nic.attributes.at("up")));
    CHECK(std::get<std::string>(nic.attributes.at("x/y")) == "z");
    const CapacityPolicy &range = *nic.capacity.at("bandwidth").policy;
    CHECK(range.standard->text() == "1Gi");
    CHECK(range.least->text() == "1Gi");
    CHECK(range.most->text() == "8Gi");
    CHECK(range.step->text() == "1Gi");
    CHECK(nic.capacity.at("slots").policy->values.size() == 2);
    CHECK(nic.taints == std::vector<DeviceTaint>{{"k", "v", "NoSchedule"}});
    CHECK(nic.consumes.contains("s"));
    CHECK(nic.binding_conditions == std::vector<std::string>{"ready"});
    CHECK(nic.binding_failure_conditions == std::vector<std::string>{"broken"});
    CHECK(unsupported_device_reason(nic) ==
          "it has binding conditions, which are not supported");
}

TEST_CASE("an attribute that is not understood keeps its device from use")
{
    for (const char *attribute :
         {R"({"ints":[1]})", R"({"int":"1"})", R"({"int":1.5})",
          R"({"version":"1"})", R"({})", R"({"int":1,"other":2})", R"(7)"}) {
        CAPTURE(attribute);
        Device made = device(std::format(
            R"({{"name":"a","attributes":{{"x":{}}}}})", attribute));
        CHECK(std::holds_alternative<std::monostate>(made.attributes.at("x")));
        CHECK(unsupported_device_reason(made) ==
              "its attribute x is of an unknown kind");
    }
    CHECK(unsupported_device_reason(device(R"({"name":"a"})")) == "");
}

TEST_CASE("only the newest generation of a pool counts")
{
    DevicePool pool = only_pool({slice("a", 1, 1, devices("xy")),
                                 slice("b", 2, 1, devices("z")),
                                 slice("c", 1, 1, devices("w"))});

    CHECK(pool.generation == 2);
    CHECK(pool.usable());
    CHECK(names_in(pool) == "z");
}

TEST_CASE("a pool of which slices are missing is not used, nor is its past")
{
    DevicePool pool = only_pool(
        {slice("a", 1, 1, devices("xy")), slice("b", 2, 2, devices("x"))});

    CHECK_FALSE(pool.complete);
    CHECK_FALSE(pool.usable());
    CHECK(names_in(pool) == "x");
    CHECK(pool.unfit_reason == "");
}

TEST_CASE("slices that disagree on their number make no complete pool")
{
    CHECK_FALSE(only_pool({slice("a", 1, 2, devices("x")),
                           slice("b", 1, 3, devices("y"))})
                    .complete);
    CHECK_FALSE(only_pool({slice("a", 1, 1, devices("x")),
                           slice("b", 1, 1, devices("y"))})
                    .complete);
}

TEST_CASE("devices are in the order of slices and lists, pools by their names")
{
    CHECK(names_in(only_pool({slice("b", 1, 2, devices("ax")),
                              slice("a", 1, 2, devices("zb"))})) == "zbax");

    std::vector<ResourceSlicePtr> slices;
    for (const char *pool : {"q", "o", "p"})
        slices.push_back(slice_of(json_of(std::format(
            R"({{"metadata":{{"name":"s"}},"spec":{{"driver":"d","pool":{{)"
            R"("name":"{}","generation":1,"resourceSliceCount":1}},)"
            R"("devices":[{{"name":"a","bindingConditions":{}}}]}}}})",
            pool, pool == std::string("o") ? "[\"c\"]" : "[]"))));
    auto pools = device_pools(slices);
    REQUIRE(pools.size() == 3);
    CHECK(pools[0].name == "p");
    CHECK(pools[1].name == "q");
    CHECK(pools[2].name == "o");
}

TEST_CASE("pools of one name of two drivers are two")
{
    auto of = [](const char *driver) {
        return slice_of(json_of(std::format(
            R"({{"metadata":{{"name":"{0}"}},"spec":{{"driver":"{0}","pool":{{)"
            R"("name":"n1","generation":1,"resourceSliceCount":1}},)"
            R"("nodeName":"n1","devices":[{{"name":"a"}}]}}}})",
            driver)));
    };
    std::vector<ResourceSlicePtr> slices = {of("e"), of("d")};

    auto pools = device_pools(slices);

    REQUIRE(pools.size() == 2);
    CHECK(pools[0].driver == "d");
    CHECK(pools[1].usable());
}

TEST_CASE("a pool that contradicts itself is not used, and says why")
{
    struct Row {
        std::string one;
        std::string other;
        const char *unfit_reason;
    };
    const Row rows[] = {
        {devices("xy"), devices("zx"), "device x is in it twice"},
        {R"("sharedCounters":[{"name":"s","counters":{}}])",
         R"("sharedCounters":[{"name":"s","counters":{}}])",
         "counter set s is in it twice"},
        {R"("sharedCounters":[{"name":"s","counters":{"m":{"value":"1"}}}])",
         R"("allNodes":true,"devices":[{"name":"a","consumesCounters":[
            {"counterSet":"s","counters":{"n":{"value":"1"}}}]}])",
         "it has no counter s/n"},
        {R"("sharedCounters":[])",
         R"("allNodes":true,"devices":[{"name":"a","consumesCounters":[
            {"counterSet":"s","counters":{"n":{"value":"1"}}}]}])",
         "it has no counter s/n"},
        {devices("x"),
         R"("allNodes":true,"devices":[{"name":"a","capacity":{
            "m":{"value":"lots"}}}])",
         "ResourceSlice b: quantity \"lots\" is not valid"},
        {devices("x"), R"("allNodes":true,"devices":[{}])",
         "ResourceSlice b: a device has no name"},
    };
    for (const Row &row : rows) {
        DevicePool pool =
            only_pool({slice("a", 1, 2, row.one), slice("b", 1, 2, row.other)});
        CHECK(pool.complete);
        CHECK_FALSE(pool.usable());
        CHECK(pool.unfit_reason == row.unfit_reason);
    }
}

TEST_CASE("a slice without what the API promises makes its pool unusable")
{
    for (const char *text :
         {"{}", "[]", R"({"spec":{"driver":"d"}})",
          R"({"metadata":{"name":"s"},"spec":{"driver":"d","pool":{
             "name":"p","generation":-1,"resourceSliceCount":1}}})",
          R"({"metadata":{"name":"s"},"spec":{"driver":"d","pool":{
             "name":"p","generation":1,"resourceSliceCount":0}}})"}) {
        CAPTURE(text);
        CHECK(slice_of(json_of(text))->unfit_reason != "");
    }
    std::string many;
    for (int i = 0; i < 129; i++)
        many += std::format("{}{{\"name\":\"g{}\"}}", i ? "," : "", i);
    CHECK(slice("s", 1, 1, "\"allNodes\":true,\"devices\":[" + many + "]")
              ->unfit_reason == "ResourceSlice s: it has too many devices");
}

TEST_CASE("a device is on the Nodes that its slice or itself names")
{
    auto first = [](const std::string &rest) {
        return *slice("s", 1, 1, rest)->devices.front();
    };
    Device selected = first(R"("nodeSelector":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}]},
        "devices":[{"name":"x","nodeName":"ignored"}])");
    Device own = first(R"("perDeviceNodeSelection":true,
        "devices":[{"name":"x","nodeName":"n1"}])");
    Device everywhere = first(R"("perDeviceNodeSelection":true,
        "devices":[{"name":"x","allNodes":true}])");
    Device unknown = first(R"("newScope":true,"devices":[{"name":"x"}])");
    Device strange = first(R"("nodeSelector":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"a","operator":"Like","values":["a"]}]}]},
        "devices":[{"name":"x"}])");

    CHECK(is_on(selected, node("n1", {{"zone", "a"}})));
    CHECK_FALSE(is_on(selected, node("n1", {{"zone", "b"}})));
    CHECK(selected.scope->match_expressions ==
          std::vector<std::string>{
              R"({"key":"zone","operator":"In","values":["a"]})"});
    CHECK(is_on(own, node("n1")));
    CHECK_FALSE(is_on(own, node("n2")));
    CHECK(is_on(everywhere, node("n2")));
    CHECK_FALSE(is_on(unknown, node("n1")));
    CHECK_FALSE(is_on(strange, node("n1", {{"a", "a"}})));
    CHECK_FALSE(is_on(Device{}, node("n1")));
}

TEST_CASE("partitions of one device share its counters")
{
    auto part = [](const char *name, const char *memory) {
        return std::format(
            R"({{"name":"{}","consumesCounters":[{{"counterSet":"gpu",)"
            R"("counters":{{"memory":{{"value":"{}"}}}}}}]}})",
            name, memory);
    };
    DevicePool pool = only_pool(
        {slice("a", 1, 2, R"("sharedCounters":[{"name":"gpu","counters":{
             "memory":{"value":"40Gi"}}}])"),
         slice("b", 1, 2,
               R"("perDeviceNodeSelection":true,"devices":[)" +
                   part("whole", "40Gi") + "," + part("half", "20Gi") + "," +
                   part("other-half", "20Gi") + "]")});
    REQUIRE(pool.usable());
    const Device &whole = *pool.devices[0];
    const Device &half = *pool.devices[1];

    CHECK(counters_suffice(whole, counters_left(pool, {})));
    auto left = counters_left(pool, {"other-half", "gone"});
    CHECK(left.at("gpu").at("memory").text() == "20Gi");
    CHECK_FALSE(counters_suffice(whole, left));
    CHECK(counters_suffice(half, left));
    CHECK_FALSE(counters_suffice(half, counters_left(pool, {"whole"})));
}
