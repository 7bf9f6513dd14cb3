// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/cpu_devices.h"

#include "agent/gres/inventory.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>
#include <utility>

using namespace bridge;

namespace {

std::vector<DevicePtr> devices(const std::vector<std::string> &names)
{
    std::vector<DevicePtr> made;
    for (const std::string &name : names) {
        Device device;
        device.driver = "dra.cpu";
        device.pool = "kn1";
        device.name = name;
        made.push_back(std::make_shared<const Device>(device));
    }
    return made;
}

std::string words(std::span<const DevicePtr> devices)
{
    std::string text;
    for (const DevicePtr &one : devices)
        text += (text.empty() ? "" : " ") + one->name;
    return text;
}

std::string shown(const CpuOffer &offer)
{
    std::span<const DevicePtr> all = offer.devices;
    return words(all.first(offer.own)) + "|" +
           words(all.subspan(offer.own, offer.free - offer.own)) + "|" +
           words(all.subspan(offer.free));
}

} // namespace

TEST_CASE("CPUs are in the order in which people count them")
{
    auto cpus = devices({"cpudev1000", "cpudev002", "c10", "cpudev000", "c9",
                         "cpudev999", "x"});
    sort_cpus(cpus);

    CHECK(words(cpus) == "c9 c10 cpudev000 cpudev002 cpudev999 cpudev1000 x");
}

TEST_CASE("the job's own first, then what nobody has, then what claims have")
{
    auto cpus = devices({"c0", "c1", "c2", "c3", "c4", "c5"});
    auto taken = [](const DeviceId &id) {
        return id.device == "c2" || id.device == "c5";
    };
    std::vector<std::uint32_t> ids = {1, 2};

    CHECK(shown(offer_cpus(cpus, ids, taken)) == "c1|c4 c3 c0|c2 c5");
    CHECK(shown(offer_cpus(cpus, {}, taken)) == "|c4 c3 c1 c0|c5 c2");
}

TEST_CASE("numbers beyond the devices, and twice the same, stand for none")
{
    auto cpus = devices({"c0", "c1"});
    auto none = [](const DeviceId &) { return false; };
    std::vector<std::uint32_t> ids = {1, 1, 2, 4000000000};

    CHECK(shown(offer_cpus(cpus, ids, none)) == "c1|c0|");
    CHECK(shown(offer_cpus({}, ids, none)) == "||");
}

namespace {

// Whether the plan gives the node the feature, and says that it has devices.
struct Planned {
    bool feature = false;
    bool devices = false;
    std::string warnings;

    bool operator==(const Planned &) const = default;
};

// inventory: null where nothing is known yet.
Planned plan_of(const SlurmNode &known,
                std::shared_ptr<const DeviceInventory> inventory)
{
    NodePlanInput input = make_input({make_node("n1")});
    input.count_devices = true;
    input.devices = std::move(inventory);
    NodePlan plan = plan_nodes(input, {known});
    Planned made;
    made.feature = known.features.contains("k8s-cpus");
    for (const NodeStep &step : plan.steps)
        if (const auto *set = std::get_if<SetFeatures>(&step))
            made.feature = set->features.contains("k8s-cpus");
    made.devices = plan.cpu_nodes == std::set<std::string>{"n1"};
    for (const std::string &one : plan.warnings)
        made.warnings += one;
    return made;
}

std::shared_ptr<DeviceInventory> with_cpus(const std::string &node)
{
    auto made = std::make_shared<DeviceInventory>();
    made->cpus[node] = devices({"c0"});
    return made;
}

} // namespace

TEST_CASE("external nodes with CPU devices have a feature that says so")
{
    SlurmNode external = make_slurm_node("n1");
    CHECK(plan_of(external, with_cpus("n1")) == Planned{true, true, ""});
    CHECK(plan_of(external, with_cpus("n2")) == Planned{false, false, ""});

    SlurmNode hybrid = make_hybrid_node("n1");
    Planned none = plan_of(hybrid, with_cpus("n1"));
    CHECK_FALSE(none.feature);
    CHECK_FALSE(none.devices);
    CHECK(none.warnings.contains("has CPU devices and a slurmd"));
}

TEST_CASE("while nobody knows what is there a node keeps the feature")
{
    SlurmNode had = make_slurm_node("n1");
    had.features = had.active_features.emplace("k8s,k8s-cpus");
    auto doubtful = with_cpus("n2");
    doubtful->doubtful.insert({"dra.cpu", "n1"});

    CHECK(plan_of(had, nullptr) == Planned{true, false, ""});
    CHECK(plan_of(had, doubtful) == Planned{true, false, ""});
    CHECK(plan_of(had, with_cpus("n2")) == Planned{false, false, ""});
    CHECK_FALSE(plan_of(make_slurm_node("n1"), doubtful).feature);
}
