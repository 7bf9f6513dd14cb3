// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/check.h"

#include "common/base/json.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>
#include <format>

using namespace bridge;

namespace {

// A node n1 of four GPUs: two of model A in NUMA node 0, two of B in 1.
class Cluster {
  public:
    Cluster()
    {
        for (int i = 0; i < 4; i++)
            add(std::format(
                R"({{"name":"g{}","attributes":{{"model":{{"string":"{}"}},)"
                R"("index":{{"int":{}}},"numa":{{"int":{}}}}},)"
                R"("capacity":{{"memory":{{"value":"40Gi"}}}}}})",
                i, i < 2 ? "A" : "B", i, i / 2));
        classes["gpu"] = class_of(R"({"metadata":{"name":"gpu"},"spec":{
            "selectors":[{"cel":{"expression":"device.driver == 'd'"}}]}})");
        node.name = "n1";
    }

    void add(const std::string &device)
    {
        devices_ += (devices_.empty() ? "" : ",") + device;
        auto slice =
            std::make_shared<const ResourceSlice>(resource_slice_from(json_of(
                R"({"metadata":{"name":"s"},"spec":{"driver":"d","pool":{
                   "name":"p","generation":1,"resourceSliceCount":1},
                   "nodeName":"n1","devices":[)" +
                devices_ + "]}}")));
        std::vector<ResourceSlicePtr> slices = {slice};
        pools = device_pools(slices);
        REQUIRE(pools.at(0).usable());
    }

    static DeviceClass class_of(const std::string &text)
    {
        return device_class_from(json_of(text), text);
    }

    // "r:g0 r:g1", and of a device that many share "r:g0!".
    std::vector<ChosenDevice> chosen(std::string_view words) const
    {
        std::vector<ChosenDevice> made;
        while (!words.empty()) {
            std::string_view word = words.substr(0, words.find(' '));
            words.remove_prefix(std::min(words.size(), word.size() + 1));
            std::size_t colon = word.find(':');
            bool share = word.ends_with('!');
            std::string name(word.substr(colon + 1));
            if (share)
                name.pop_back();
            made.push_back({std::string(word.substr(0, colon)), device(name),
                            share ? "some-id" : ""});
        }
        return made;
    }

    DevicePtr device(const std::string &name) const
    {
        for (const DevicePool &pool : pools)
            for (const DevicePtr &one : pool.devices)
                if (one->name == name)
                    return one;
        Device gone;
        gone.driver = "d";
        gone.pool = "p";
        gone.name = name;
        return std::make_shared<const Device>(gone);
    }

    // Of a claim with this in spec.devices: what stands against it.
    std::string verdict(const std::string &spec, std::string_view words) const
    {
        std::string text =
            R"({"metadata":{"name":"c"},"spec":{"devices":{)" + spec + "}}}";
        CelBudget budget(CelSelector::max_sum);
        auto reason =
            no_allocation_reason(resource_claim_from(json_of(text), text),
                                 classes, chosen(words), pools, node, budget);
        if (!reason)
            return std::string(code_name(reason.error().code)) + ": " +
                   reason.error().message;
        return reason->empty() ? "fits" : *reason;
    }

    DeviceClasses classes;
    std::vector<DevicePool> pools;
    Node node;

  private:
    std::string devices_;
};

std::string request(const std::string &rest = "")
{
    return R"("requests":[{"name":"r","exactly":{"deviceClassName":"gpu")" +
           rest + "}}]";
}

std::string selector(const std::string &cel)
{
    return R"(,"selectors":[{"cel":{"expression":")" + cel + "\"}}]";
}

} // namespace

TEST_CASE("a claim has as many devices as it asks for")
{
    Cluster cluster;

    CHECK(cluster.verdict(request(), "r:g0") == "fits");
    CHECK(cluster.verdict(request(R"(,"count":2)"), "r:g3 r:g0") == "fits");
    CHECK(cluster.verdict(request(R"(,"count":2)"), "r:g3") ==
          "request r has 1 devices and wants 2");
    CHECK(cluster.verdict(request(), "r:g0 r:g1") ==
          "request r has 2 devices and wants 1");
    CHECK(cluster.verdict(request(), "") == "request r has no device");
    CHECK(cluster.verdict(request(R"(,"count":2)"), "r:g1 r:g1") ==
          "device d/p/g1 for request r: the claim has it already");
    CHECK(cluster.verdict(request(), "x:g1") ==
          "device d/p/g1 for request x: the claim has no such request");
    CHECK(cluster.verdict(request(), "r:g9") ==
          "device d/p/g9 for request r: no ResourceSlice has it");
}

TEST_CASE("selectors of the class and of the request both count")
{
    Cluster cluster;
    std::string of_model =
        request(selector("device.attributes['d'].model == 'A'"));

    CHECK(cluster.verdict(of_model, "r:g1") == "fits");
    CHECK(cluster.verdict(of_model, "r:g2") ==
          "device d/p/g2 for request r: it does not match the request's "
          "selectors");
    CHECK(
        cluster
            .verdict(request(selector("device.attributes['d'].x == 1")), "r:g2")
            .starts_with("rejected: request r: selector"));

    cluster.classes["gpu"] = Cluster::class_of(
        R"({"metadata":{"name":"gpu"},"spec":{"selectors":[
            {"cel":{"expression":"device.driver == 'other'"}}]}})");
    CHECK(cluster.verdict(of_model, "r:g1") ==
          "device d/p/g1 for request r: it is not of class gpu");

    cluster.classes.clear();
    CHECK(cluster.verdict(of_model, "r:g1") ==
          "not_found: there is no DeviceClass gpu");
}

TEST_CASE("all means all that fit")
{
    Cluster cluster;
    std::string all = R"(,"allocationMode":"All")";
    std::string of_model = selector("device.attributes['d'].model == 'A'");

    CHECK(cluster.verdict(request(all), "r:g0 r:g1 r:g2 r:g3") == "fits");
    CHECK(cluster.verdict(request(all), "r:g0 r:g1 r:g2") ==
          "request r has 3 devices and wants 4");
    CHECK(cluster.verdict(request(all + of_model), "r:g0 r:g1") == "fits");

    cluster.pools.push_back(cluster.pools.front());
    cluster.pools.back().complete = false;
    CHECK(cluster.verdict(request(all + of_model), "r:g0 r:g1") ==
          "busy: pool d/p cannot be used now");
}

TEST_CASE("one choice of firstAvailable is taken, and no other")
{
    Cluster cluster;
    std::string choices = R"("requests":[{"name":"r","firstAvailable":[
        {"name":"two","deviceClassName":"gpu","count":2},
        {"name":"one","deviceClassName":"gpu"}]}])";

    CHECK(cluster.verdict(choices, "r/two:g0 r/two:g1") == "fits");
    CHECK(cluster.verdict(choices, "r/one:g0") == "fits");
    CHECK(cluster.verdict(choices, "r/two:g0") ==
          "request r/two has 1 devices and wants 2");
    CHECK(cluster.verdict(choices, "r/two:g0 r/two:g1 r/one:g2") ==
          "request r has devices of two choices");
    CHECK(cluster.verdict(choices, "r:g0").ends_with("no such request"));
}

TEST_CASE("constraints hold over all devices of their requests")
{
    Cluster cluster;
    auto spec = [](const std::string &constraint) {
        return request(R"(,"count":2)") + R"(,"constraints":[)" + constraint +
               "]";
    };
    std::string same = spec(R"({"matchAttribute":"d/numa"})");
    std::string other =
        spec(R"({"requests":["r"],"distinctAttribute":"d/numa"})");

    CHECK(cluster.verdict(same, "r:g0 r:g1") == "fits");
    CHECK(cluster.verdict(same, "r:g0 r:g2") ==
          "device d/p/g2 for request r: its d/numa differs from another "
          "device's");
    CHECK(cluster.verdict(other, "r:g0 r:g2") == "fits");
    CHECK(cluster.verdict(other, "r:g0 r:g1") ==
          "device d/p/g1 for request r: its d/numa equals another device's");
    CHECK(cluster.verdict(spec(R"({"matchAttribute":"d/x"})"), "r:g0 r:g1") ==
          "device d/p/g0 for request r: it has no attribute d/x");
    CHECK(cluster.verdict(spec(R"({"requests":["q"],"matchAttribute":"d/x"})"),
                          "r:g0 r:g1") == "fits");
    CHECK(cluster.verdict(spec(R"({"future":"d/x"})"), "r:g0 r:g1") ==
          "rejected: a constraint of an unknown kind is not supported");
}

TEST_CASE("a taint keeps a device from who does not tolerate it")
{
    Cluster cluster;
    cluster.add(R"({"name":"t","attributes":{},
        "taints":[{"key":"k","value":"v","effect":"NoExecute"},
                  {"key":"n","effect":"None"}]})");
    auto tolerating = [](const std::string &toleration) {
        return request(R"(,"tolerations":[)" + toleration + "]");
    };
    std::string no = "device d/p/t for request r: its taint k is not tolerated";

    CHECK(cluster.verdict(request(), "r:t") == no);
    CHECK(cluster.verdict(tolerating(R"({"key":"k","operator":"Exists"})"),
                          "r:t") == "fits");
    CHECK(cluster.verdict(tolerating(R"({"operator":"Exists"})"), "r:t") ==
          "fits");
    CHECK(cluster.verdict(tolerating(R"({"key":"k","value":"v"})"), "r:t") ==
          "fits");
    CHECK(cluster.verdict(tolerating(R"({"key":"k","value":"w"})"), "r:t") ==
          no);
    CHECK(cluster.verdict(tolerating(R"({"key":"k","operator":"Exists",
                                         "effect":"NoSchedule"})"),
                          "r:t") == no);
}

TEST_CASE("capacity that is asked for is there, and shared as its policy says")
{
    Cluster cluster;
    cluster.add(
        R"({"name":"nic","allowMultipleAllocations":true,"attributes":{},
        "capacity":{"bandwidth":{"value":"10Gi","requestPolicy":{
            "default":"1Gi","validRange":{"min":"1Gi","max":"8Gi",
            "step":"1Gi"}}},
            "slots":{"value":"8","requestPolicy":{
            "default":"1","validValues":["1","2","4"]}}}})");
    auto asking = [](const std::string &capacity) {
        return request(R"(,"capacity":{"requests":{)" + capacity + "}}");
    };
    auto gets = [&](const std::string &capacity) -> std::string {
        std::string text = R"({"metadata":{"name":"c"},"spec":{"devices":{)" +
                           asking(capacity) + "}}}";
        ResourceClaim claim = resource_claim_from(json_of(text), text);
        auto taken = consumed_capacity(*cluster.device("nic"),
                                       claim.requests[0].choices[0]);
        if (!taken)
            return "nothing";
        return taken->at("bandwidth").text() + " " + taken->at("slots").text();
    };

    CHECK(gets("") == "1Gi 1");
    CHECK(gets(R"("bandwidth":"1500Mi","slots":"3")") == "2Gi 4");
    CHECK(gets(R"("bandwidth":"1","slots":"2")") == "1Gi 2");
    CHECK(gets(R"("bandwidth":"8Gi")") == "8Gi 1");
    CHECK(gets(R"("bandwidth":"9Gi")") == "nothing");
    CHECK(gets(R"("slots":"5")") == "nothing");
    CHECK(gets(R"("other":"1")") == "nothing");

    CHECK(cluster.verdict(asking(R"("memory":"40Gi")"), "r:g0") == "fits");
    CHECK(cluster.verdict(asking(R"("memory":"41Gi")"), "r:g0") ==
          "device d/p/g0 for request r: it does not have the requested "
          "capacity");
    std::string twice =
        request(R"(,"count":2,"capacity":{"requests":{"bandwidth":"5Gi"}})");
    CHECK(cluster.verdict(twice, "r:nic! r:nic!") == "fits");
    std::string too_much =
        request(R"(,"count":2,"capacity":{"requests":{"bandwidth":"6Gi"}})");
    CHECK(cluster.verdict(too_much, "r:nic! r:nic!") ==
          "device d/p/nic for request r: the claim takes more than its "
          "capacity");
    CHECK(cluster.verdict(asking(""), "r:nic") ==
          "device d/p/nic for request r: its shareID does not match "
          "allowMultipleAllocations");
    CHECK(cluster.verdict(request(), "r:g0!") ==
          "device d/p/g0 for request r: its shareID does not match "
          "allowMultipleAllocations");
}

TEST_CASE("a device of another node, or that must not be chosen, does not fit")
{
    Cluster cluster;
    cluster.add(R"({"name":"slow","attributes":{},
                    "bindingConditions":["ready"]})");

    CHECK(cluster.verdict(request(), "r:slow") ==
          "device d/p/slow for request r: it has binding conditions, which are "
          "not supported");
    cluster.node.name = "n2";
    CHECK(cluster.verdict(request(), "r:g0") ==
          "device d/p/g0 for request r: it cannot be used on this node");
    cluster.pools.front().complete = false;
    CHECK(cluster.verdict(request(), "r:g0") ==
          "device d/p/g0 for request r: no ResourceSlice has it");
}
