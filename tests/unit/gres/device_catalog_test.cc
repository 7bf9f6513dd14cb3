// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/catalog.h"

#include "agent/gres/evaluator.h"
#include "agent/gres/memo.h"
#include "common/base/json.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>
#include <format>

using namespace bridge;

namespace {

DeviceClass class_of(const std::string &name, const std::string &cel)
{
    std::string text = std::format(
        R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":[{{"cel":{{"expression":"{}"}}}}]}}}})",
        name, cel);
    return device_class_from(json_of(text), text);
}

// Node n1 has a0, a1 of model A and h2 of model H, n2 has a0; Slurm counts the
// models as types a and h of GRES gpu.
class Cluster {
  public:
    Cluster()
    {
        add_class("gpu", "device.driver == 'd'");
        catalog.gres["gpu"] = "gpu";
        add_pool("n1", {"a0", "a1", "h2"});
        add_pool("n2", {"a0"});
    }

    void add_class(const std::string &name, const std::string &cel)
    {
        catalog.classes[name] = class_of(name, cel);
    }

    void add_pool(const std::string &node,
                  const std::vector<std::string> &names,
                  const std::string &more = {}, int slices = 1)
    {
        std::string devices;
        DevicesNow now;
        for (const std::string &name : names) {
            devices += std::format(
                R"({}{{"name":"{}","attributes":{{"model":{{"string":"{}"}}}}{}}})",
                devices.empty() ? "" : ",", name, name[0] == 'a' ? "A" : "H",
                more);
            now.present.push_back(
                {"gpu", name.substr(0, 1), {"d", node, name}});
        }
        slices_.push_back(std::make_shared<const ResourceSlice>(
            resource_slice_from(json_of(std::format(
                R"({{"metadata":{{"name":"s-{0}"}},"spec":{{"driver":"d","pool":{{
                "name":"{0}","generation":1,"resourceSliceCount":{1}}},
                "nodeName":"{0}","devices":[{2}]}}}})",
                node, slices, devices)))));
        catalog.pools = device_pools(slices_);
        catalog.nodes[node].update(now, {});
    }

    // Of which devices of the node's pool take.
    void add_counters(const std::string &node)
    {
        slices_.push_back(std::make_shared<const ResourceSlice>(
            resource_slice_from(json_of(std::format(
                R"({{"metadata":{{"name":"c-{0}"}},"spec":{{"driver":"d","pool":{{
                "name":"{0}","generation":1,"resourceSliceCount":2}},
                "nodeName":"{0}","sharedCounters":[{{"name":"s","counters":{{
                "memory":{{"value":"40Gi"}}}}}}]}}}})",
                node)))));
        catalog.pools = device_pools(slices_);
    }

    // "gpu:a exact", "gpu+mem:5", or "not_found: why".
    std::string wish(const std::string &class_name,
                     const std::string &cel = {}) const
    {
        std::string selectors =
            cel.empty()
                ? ""
                : std::format(
                      R"(,"selectors":[{{"cel":{{"expression":"{}"}}}}])", cel);
        std::string text = std::format(
            R"({{"metadata":{{"name":"c"}},"spec":{{"devices":{{"requests":[{{
            "name":"r","exactly":{{"deviceClassName":"{}"{}}}}}]}}}}}})",
            class_name, selectors);
        ResourceClaim claim = resource_claim_from(json_of(text), text);
        REQUIRE(claim.unfit_reason == "");
        const DeviceRequest &request = claim.requests.at(0).choices.at(0);
        CelBudget budget(CelSelector::max_sum);
        std::string said =
            words(gres_for(catalog, kinds_of(catalog), request, budget));
        CHECK(words(remembered(request)) == said);
        return said;
    }

    std::string device_name(const std::string &node, std::uint32_t index) const
    {
        DevicePtr device = device_at(catalog, node, {"gpu", index});
        return device ? device->pool + "/" + device->name : "";
    }

    DeviceCatalog catalog;

  private:
    // The same by way of the memo, which asks without the request's name.
    Result<GresWish> remembered(const DeviceRequest &request) const
    {
        auto now = std::make_shared<const DeviceCatalog>(catalog);
        GresMemo memo;
        memo.turn_to(now);
        (void)memo.wish_for(request, {});
        auto question = memo.next({});
        REQUIRE(question.has_value());
        (void)memo.take(GresEvaluator().answer(now, *question), {});
        auto made = memo.wish_for(request, {});
        REQUIRE(made.has_value());
        return made->answer;
    }
    static std::string words(const Result<GresWish> &made)
    {
        if (!made)
            return std::string(code_name(made.error().code)) + ": " +
                   made.error().message;
        std::string amounts = amounts_text(made->amounts);
        return made->gres + (made->type.empty() ? "" : ":" + made->type) +
               (amounts.empty() ? "" : "+" + amounts) +
               (made->exact ? " exact" : "");
    }

    std::vector<ResourceSlicePtr> slices_;
};

constexpr char model_a[] = "device.attributes['d'].model == 'A'";

// Any device is one, at the cost of some 2,000 for each round.
std::string costly(int rounds)
{
    std::string list = "[0";
    for (int i = 1; i < rounds; i++)
        list += ",0";
    return list + "].all(i, device.driver.matches(device.driver))";
}

// Eight devices of two models on each of 5,000 nodes.
DeviceCatalog large_catalog()
{
    DeviceCatalog catalog;
    catalog.classes["gpu"] = class_of("gpu", "device.driver == 'd'");
    catalog.gres["gpu"] = "gpu";
    for (int n = 0; n < 5000; n++) {
        DevicePool pool;
        pool.driver = "d";
        pool.name = std::format("n{}", n);
        pool.complete = true;
        DevicesNow now;
        for (int i = 0; i < 8; i++) {
            Device device;
            device.driver = "d";
            device.pool = pool.name;
            device.name = std::format("g{}", i);
            device.attributes["model"] = std::string(i < 4 ? "y" : "z");
            now.present.push_back({"gpu", i < 4 ? "y" : "z", device.id()});
            pool.devices.push_back(
                std::make_shared<const Device>(std::move(device)));
        }
        catalog.nodes[pool.name].update(now, {});
        catalog.pools.push_back(std::move(pool));
    }
    return catalog;
}

} // namespace

TEST_CASE(
    "a request that any device of a GRES satisfies leaves the choice to Slurm")
{
    Cluster cluster;

    CHECK(cluster.wish("gpu") == "gpu exact");
    CHECK(cluster.wish("gpu", model_a) == "gpu:a exact");
    CHECK(cluster.wish("gpu", "device.attributes['d'].model != 'A'") ==
          "gpu:h exact");
}

TEST_CASE("what types do not tell is looked at once Slurm has chosen")
{
    Cluster cluster;
    cluster.catalog.nodes["n1"].update({{{"gpu", "a", {"d", "n1", "a0"}},
                                         {"gpu", "a", {"d", "n1", "a1"}},
                                         {"gpu", "a", {"d", "n1", "h2"}}},
                                        {}},
                                       {}); // all of one type now

    CHECK(cluster.wish("gpu", model_a) == "gpu:a");
    CHECK(cluster.wish("gpu") == "gpu:a exact");

    cluster.add_pool("n3", {"h0", "a7"});
    CHECK(cluster.wish("gpu", model_a) == "gpu:a");
    CHECK(cluster.wish("gpu") == "gpu exact");
}

TEST_CASE("a class that DeviceGres does not name has the GRES of its devices")
{
    Cluster cluster;
    cluster.add_class("model-a", model_a);
    cluster.add_class("none", "device.driver == 'other'");

    CHECK(cluster.wish("model-a") == "gpu:a exact");
    CHECK(cluster.wish("none") ==
          "not_found: DeviceClass none has no GRES in Slurm");
    CHECK(cluster.wish("gone") == "not_found: there is no DeviceClass gone");
}

TEST_CASE("a class has no other GRES than the one that DeviceGres says")
{
    Cluster cluster;
    cluster.catalog.gres["gpu"] = "accelerator";

    CHECK(cluster.wish("gpu") == "not_found: no node in Slurm has a device for "
                                 "request r of DeviceClass gpu");
}

TEST_CASE("what nobody can tell is an answer only where nothing fits")
{
    Cluster cluster;

    CHECK(cluster.wish("gpu", "device.attributes['d'].size == 1")
              .starts_with("rejected: request r"));
    CHECK(cluster.wish("gpu",
                       "device.attributes['d'].model == 'A' || "
                       "device.attributes['d'].size == 1") == "gpu:a exact");

    cluster.add_class("bad", "device.foo(1)");
    CHECK(cluster.wish("bad").starts_with("rejected: DeviceClass bad: "));
}

TEST_CASE("a selector that is too much to do is refused, whatever fits")
{
    Cluster cluster;
    std::string refused = "rejected: request r: selector \"";
    std::string too_much =
        cluster.wish("gpu", model_a + std::string(" || ") + costly(600));
    CHECK(too_much.starts_with(refused));
    CHECK(too_much.ends_with("\": too expensive to evaluate"));

    CHECK(cluster.wish("gpu", costly(400)) == "gpu exact");
    std::vector<std::string> names;
    for (int i = 0; i < 24; i++)
        names.push_back(std::format("a{}", i));
    cluster.add_pool("n3", names);
    std::string for_all = cluster.wish("gpu", costly(400));
    CHECK(for_all.starts_with(refused));
    CHECK(
        for_all.ends_with("\": too expensive to evaluate for so many devices"));
    CHECK(cluster.wish("gpu", model_a) == "gpu:a exact");
}

TEST_CASE("what people write is answered in a large cluster, too")
{
    DeviceCatalog catalog = large_catalog();
    DeviceRequest request;
    request.name = "r";
    request.class_name = "gpu";
    auto selector = CelSelector::parse(
        R"(device.driver == "d" && device.attributes["d"].model == "y")");
    REQUIRE(selector.has_value());
    request.selectors.push_back(*selector);

    CelBudget budget(CelSelector::max_sum);
    auto wish = gres_for(catalog, kinds_of(catalog), request, budget);
    REQUIRE(wish.has_value());
    CHECK(wish->type == "y");
    CHECK(wish->exact);
    CHECK(budget.left() > CelSelector::max_sum / 10 * 9);
}

TEST_CASE("tainted devices, incomplete pools and absent devices give nothing")
{
    Cluster cluster;
    cluster.add_pool("n3", {"x0"},
                     R"(,"taints":[{"key":"k","effect":"NoSchedule"}])");
    CHECK(cluster.wish("gpu", model_a) == "gpu:a exact");
    CHECK(cluster.wish("gpu", "device.attributes['d'].model == 'H'") ==
          "gpu:h exact"); // not the tainted one of type x

    Cluster half;
    half.add_pool("n4", {"y0"}, {}, 2);
    CHECK(half.wish("gpu", "device.attributes['d'].model == 'H'") ==
          "gpu:h exact");
    CHECK(half.device_name("n4", 0) == "");
}

TEST_CASE("an index names the device that is there")
{
    Cluster cluster;

    CHECK(cluster.device_name("n1", 0) == "n1/a0");
    CHECK(cluster.device_name("n1", 2) == "n1/h2");
    CHECK(cluster.device_name("n2", 0) == "n2/a0");
    CHECK(cluster.device_name("n2", 1) == "");
    CHECK(cluster.device_name("n9", 0) == "");
    CHECK(device_at(cluster.catalog, "n1", {"nic", 0}) == nullptr);

    cluster.catalog.nodes["n1"].update({{}, {{"d", "n1"}}}, {});
    CHECK(cluster.device_name("n1", 0) == ""); // was not there when looked for
}

namespace {

std::string memory_of(const std::string &amount)
{
    return R"(,"allowMultipleAllocations":true,"capacity":{"memory":{"value":")" +
           amount + R"("}})";
}

} // namespace

TEST_CASE("a share asks for what the device of which it takes most would give")
{
    Cluster cluster;
    cluster.add_class("shared", "device.driver == 'd' && "
                                "device.allowMultipleAllocations == true");
    cluster.add_pool("n3", {"a0"}, memory_of("40Gi"));
    cluster.add_pool("n4", {"a0"}, memory_of("30Gi"));
    cluster.catalog.nodes.erase("n3"); // they have no index
    cluster.catalog.nodes.erase("n4");
    CHECK(cluster.wish("shared") ==
          "not_found: DeviceClass shared has no GRES in Slurm");

    cluster.catalog.counted = {{"d", "memory", "mem", *Quantity::parse("1Gi")}};
    CHECK(cluster.wish("shared").starts_with("not_found")); // of no node yet
    cluster.catalog.amounts["n3"] = {{"mem", 40}};
    CHECK(cluster.wish("shared") == "+mem:40 exact");
    CHECK(cluster.wish("shared", "device.driver == 'x'") ==
          "not_found: DeviceClass shared has no GRES in Slurm");
    CHECK(cluster.wish("gpu") == "gpu exact"); // what has an index goes first

    cluster.add_pool("n5", {"a0"},
                     R"(,"allowMultipleAllocations":true,"capacity":{"memory":)"
                     R"({"value":"9Gi"},"slots":{"value":"2"}})");
    cluster.catalog.nodes.erase("n5");
    cluster.catalog.counted.push_back(
        {"d", "slots", "slots", *Quantity::parse("1")});
    cluster.catalog.amounts["n5"] = {{"mem", 9}, {"slots", 2}};
    CHECK(cluster.wish("shared") == "+mem:40 exact"); // of two; n5 is one
}

TEST_CASE("a partition asks for its GRES, and for what it takes of counters")
{
    Cluster cluster;
    auto add = [&](const std::string &node, const std::string &name,
                   const std::string &memory) {
        cluster.add_pool(node, {name},
                         R"(,"consumesCounters":[{"counterSet":"s","counters":)"
                         R"({"memory":{"value":")" +
                             memory + R"("}}}])",
                         2);
        cluster.add_counters(node);
    };
    add("n3", "p0", "5Gi");
    add("n4", "w0", "40Gi");
    cluster.add_class("part", "device.attributes['d'].model == 'H'");
    cluster.catalog.counted = {{"d", "memory", "mem", *Quantity::parse("1Gi")}};
    cluster.catalog.nodes.erase("n1");
    CHECK(cluster.wish("part") == "gpu"); // no node counts any yet

    cluster.catalog.amounts["n4"] = {{"mem", 40}};
    CHECK(cluster.wish("part") == "gpu:p+mem:5 exact"); // what takes least
    CHECK(cluster.wish("gpu") == "gpu:a exact");        // nothing at all
}

TEST_CASE(
    "a request for CPUs has a wish of its own, where their nodes have some")
{
    Cluster cluster;
    cluster.add_class("c", "device.driver == 'd'");
    cluster.catalog.gres = {{"c", cpu_gres}};
    cluster.catalog.nodes.clear();

    CHECK(cluster.wish("c").contains("not_found: no external node in Slurm"));

    cluster.catalog.cpus["n1"] = cluster.catalog.pools[0].devices;
    CHECK(cluster.wish("c") == "cpu exact");
    CHECK(cluster.wish("c", model_a) == "cpu");
}
