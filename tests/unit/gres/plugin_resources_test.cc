// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/plugin_resources.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr char gpu[] = "nvidia.com/gpu";
using Counts = std::map<std::string, std::uint32_t>;

DeviceIndex index_of(const std::string &text)
{
    auto index = DeviceIndex::parse(text);
    REQUIRE(index);
    return *index;
}

PluginWish wish(std::int64_t count, const std::string &resource = gpu)
{
    return {resource, "gpu", "a100", count};
}

// Indexes 0 to 2 are a device plugin's, 3 is of a DRA driver.
constexpr char mixed[] =
    "k8sdev:1|gpu!a100@nvidia.com/device-plugin/gpu:n0:n1:n2"
    "!a100@gpu.example.com/n1:gpu-0";

} // namespace

TEST_CASE("a Node is asked for what its device plugins offer")
{
    Node node = make_node("n1");
    auto asks = Predicate::make({where_offered(gpu)}, {});
    REQUIRE(asks);

    CHECK(asks_for_plugins(value_of(*asks)));
    CHECK_FALSE(asks_for_plugins(Predicate()));
    CHECK_FALSE(matches(value_of(*asks), node));
    CHECK(mismatch(value_of(*asks), node) ==
          "no device plugin offers nvidia.com/gpu there");
    node.allocatable.others[gpu] = 0; // the device plugin is away
    CHECK_FALSE(matches(value_of(*asks), node));
    node.allocatable.others[gpu] = 1;
    CHECK(matches(value_of(*asks), node));
    CHECK(mismatch(value_of(*asks), node) == "");
    node.taints = {{"broken", "", "NoSchedule"}};
    CHECK(mismatch(value_of(*asks), node).contains("taint broken"));
}

TEST_CASE("one resource is not taken for another, nor a label for one")
{
    auto gpus = Predicate::make({where_offered(gpu)}, {});
    auto nics = Predicate::make({where_offered("example.com/nic")}, {});
    auto label = Predicate::make(
        {NodeSelector{NodeTerm{{"status.allocatable/nvidia.com/gpu",
                                false,
                                NodeOperator::exists,
                                {}}}}},
        {});
    REQUIRE(gpus);
    REQUIRE(nics);
    REQUIRE(label);
    CHECK(value_of(*gpus).feature() != value_of(*nics).feature());
    CHECK(value_of(*gpus).feature() != value_of(*label).feature());
    CHECK_FALSE(asks_for_plugins(value_of(*label)));
}

TEST_CASE("any index of the resource will do, also one whose number is beyond "
          "what there is now")
{
    DeviceIndex index = index_of(mixed);
    std::vector<JobGres> given = {{"gpu", "a100", 2, {0, 2}}};

    CHECK(too_few_devices_reason(index, given, {}) == "");
    CHECK(too_few_devices_reason(index, given, {wish(2)}) == "");
    CHECK(too_few_devices_reason(index, given, {wish(1), wish(1)}) == "");
    CHECK(too_few_devices_reason(index, given, {wish(2), wish(1)}) ==
          "2 of its GRES are nvidia.com/gpu, but 3 are needed");
    CHECK(too_few_devices_reason(
              index_of("k8sdev:1|gpu!a100@nvidia.com/device-plugin/"
                       "gpu:-n0:n1:-n2"),
              given, {wish(2)}) == "");
    // A DRA driver's, another resource's, and what is none at all.
    CHECK(too_few_devices_reason(index, {{"gpu", "a100", 2, {2, 3}}},
                                 {wish(2)}) != "");
    CHECK(too_few_devices_reason(index, given, {wish(1, "example.com/gpu")}) !=
          "");
    CHECK(too_few_devices_reason(index, {{"gpu", "a100", 2, {8, 9}}},
                                 {wish(1)}) != "");
    CHECK(too_few_devices_reason({}, {}, {wish(1)}) != "");
}

TEST_CASE("which GRES are a device plugin's")
{
    DeviceIndex index = index_of(mixed);
    CHECK(is_of_plugin(index.at({"gpu", 0})->id));
    CHECK_FALSE(is_of_plugin(index.at({"gpu", 3})->id));
    CHECK_FALSE(is_of_plugin({}));
    CHECK(is_counted(index, wish(1)));
    CHECK_FALSE(is_counted(index, wish(1, "example.com/gpu")));
    CHECK_FALSE(is_counted({}, wish(1)));
}

TEST_CASE("what Slurm counts and no device plugin offers is missing")
{
    auto missing = [](const std::string &text, std::uint32_t counted) {
        return missing_plugin_gres(index_of(text), {{"gpu", "a100", counted}});
    };
    std::string plugin = "k8sdev:1|gpu!a100@nvidia.com/device-plugin/gpu:";
    CHECK(missing(plugin + "n0:n1:n2", 3).empty());
    CHECK(missing(plugin + "n0:-n1:-n2", 3) == Counts{{"gpu:a100", 2}});
    // More indexes than Slurm counts, as before it is made anew.
    CHECK(missing(plugin + "n0:n1:-n2", 2).empty());
    CHECK(missing(plugin + "n0:-n1:-n2", 2) == Counts{{"gpu:a100", 1}});
    // A DRA driver's is no device plugin's, absent or not.
    CHECK(missing("k8sdev:1|gpu!a100@d/p:-x:y", 2).empty());
    CHECK(missing(plugin + "-n0!a100@d/p:-x:y", 3) == Counts{{"gpu:a100", 1}});
    CHECK(missing_plugin_gres({}, {{"gpu", "a100", 4}}).empty());
    CHECK(missing_plugin_gres(index_of(plugin + "-n0"), {{"gpu", "h100", 4}})
              .empty());
}
