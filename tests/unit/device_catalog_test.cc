// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/device_catalog.h"

#include "agent/gres_memo.h"
#include "common/json.h"
#include "tests/unit/test_data.h"

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

    // "gpu:a exact", "gpu", or "not_found: why".
    std::string wish(const std::string &class_name,
                     const std::string &cel = {}) const
    {
        std::string selectors =
            cel.empty() ? ""
                        : std::format(
                              R"(,"selectors":[{{"cel":{{"expression":"{}"}}}}])",
                              cel);
        std::string text = std::format(
            R"({{"metadata":{{"name":"c"}},"spec":{{"devices":{{"requests":[{{
            "name":"r","exactly":{{"deviceClassName":"{}"{}}}}}]}}}}}})",
            class_name, selectors);
        ResourceClaim claim = resource_claim_from(json_of(text), text);
        REQUIRE(claim.objection == "");
        const DeviceRequest &request = claim.requests.at(0).choices.at(0);
        std::string said = words(gres_for(catalog, request));
        auto now = std::make_shared<const DeviceCatalog>(catalog);
        CHECK(words(memo_.gres_for(now, request)) == said);
        CHECK(words(memo_.gres_for(now, request)) == said); // remembered
        return said;
    }

    std::string device_name(const std::string &node, std::uint32_t index) const
    {
        DevicePtr device = device_at(catalog, node, {"gpu", index});
        return device ? device->pool + "/" + device->name : "";
    }

    DeviceCatalog catalog;

  private:
    static std::string words(const Result<GresWish> &made)
    {
        if (!made)
            return std::string(code_name(made.error().code)) + ": " +
                   made.error().message;
        return made->gres + (made->type.empty() ? "" : ":" + made->type) +
               (made->exact ? " exact" : "");
    }

    std::vector<ResourceSlicePtr> slices_;
    mutable GresMemo memo_; // of all tests' catalogs, one after another
};

constexpr char model_a[] = "device.attributes['d'].model == 'A'";

} // namespace

TEST_CASE("a request that any device of a GRES satisfies leaves the choice to Slurm")
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
    cluster.catalog.nodes["n1"].update(
        {{{"gpu", "a", {"d", "n1", "a0"}}, {"gpu", "a", {"d", "n1", "a1"}},
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
    CHECK(cluster.wish("gpu", "device.attributes['d'].model == 'A' || "
                              "device.attributes['d'].size == 1") ==
          "gpu:a exact");

    cluster.add_class("bad", "device.foo(1)");
    CHECK(cluster.wish("bad").starts_with("rejected: DeviceClass bad: "));
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
