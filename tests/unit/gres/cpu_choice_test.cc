// SPDX-License-Identifier: GPL-2.0-or-later
// CPU devices for claims, as plan_claims() gives them.
#include "agent/gres/claim_plan.h"
#include "agent/gres/cpu_choice.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/cpus.h"

#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace bridge;

namespace {

// A Pod on Node kn1, which has 16 CPU devices and 4 GPUs.
struct Setting {
    DeviceClasses classes = {{"dra.cpu", make_cpu_class()},
                             {"gpu.example.com", make_class()}};
    std::vector<DevicePool> pools;
    Node node = make_node("kn1");
    DeviceNeeds needs;
    std::map<std::string, std::string> taken; // by device

    Setting()
    {
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_cpu_slice("kn1")),
            std::make_shared<const ResourceSlice>(make_slice("kn1"))};
        pools = device_pools(slices);
    }

    void add(const std::string &name, const std::string &spec)
    {
        auto claim = std::make_shared<const ResourceClaim>(
            make_claim(claim_text(name, spec)));
        needs.claims.push_back(claim);
        needs.consumers.push_back("uid-web");
        for (const ClaimRequest &group : claim->requests) {
            const DeviceRequest &request = group.choices[0];
            bool gpu = request.class_name == "gpu.example.com";
            needs.wanted.push_back({needs.claims.size() - 1,
                                    &request,
                                    {gpu ? "gpu" : cpu_gres, "", false},
                                    request.count});
        }
    }

    const std::vector<DevicePtr> &of(const std::string &driver) const
    {
        for (const DevicePool &pool : pools)
            if (pool.driver == driver)
                return pool.devices;
        FAIL("no pool of that driver");
        return pools[0].devices;
    }

    ClaimsPlan plan(const std::vector<std::uint32_t> &ids,
                    const std::vector<std::size_t> &gpus = {}) const
    {
        std::vector<DevicePtr> given;
        for (std::size_t i : gpus)
            given.push_back(of("gpu.example.com")[i]);
        auto is_taken = [this](const DeviceId &id) {
            return taken.contains(id.device);
        };
        return plan_claims(
            {.needs = needs,
             .given = given,
             .cpus = offer_cpus(of("dra.cpu"), ids, is_taken),
             .classes = classes,
             .pools = pools,
             .node = node,
             .holder_of = [this](const DeviceId &device, const std::string &)
                 -> std::optional<std::string> {
                 auto found = taken.find(device.device);
                 return found == taken.end() ? std::nullopt
                                             : std::optional(found->second);
             },
             .taken_in =
                 [](const DevicePool &) { return std::set<std::string>{}; }});
    }
};

// "request=0,3 …" of the claim, by what ends their names.
std::string words(const ClaimsPlan &plan, std::size_t claim = 0)
{
    std::map<std::string, std::string> by_request;
    for (const ChosenDevice &one : plan.claims.at(claim).chosen) {
        std::string &text = by_request[one.request];
        std::string name = one.device->name;
        std::size_t at = name.find_first_of("123456789");
        text += (text.empty() ? "" : ",") +
                (at == name.npos ? "0" : name.substr(at));
    }
    std::string text;
    for (const auto &[request, devices] : by_request)
        text += (text.empty() ? "" : " ") + request + "=" + devices;
    return text;
}

} // namespace

TEST_CASE("a claim gets the CPUs that Slurm gave to the job")
{
    Setting s;
    s.add("c", request_cpus(3));
    s.add("d", request_cpus(1));

    ClaimsPlan plan = s.plan({2, 3, 6, 7});

    CHECK(plan.misfit == "");
    CHECK(plan.wait == "");
    REQUIRE(plan.claims.size() == 2);
    CHECK(words(plan, 0) == "cpu=2,3,6");
    CHECK(words(plan, 1) == "cpu=7");
    CHECK(plan.claims[0].classes.contains("dra.cpu"));
}

TEST_CASE("CPUs of the job that no claim needs are no misfit")
{
    Setting s;
    s.add("c", request_cpus(1));
    CHECK(words(s.plan({4, 5, 6})) == "cpu=4");
}

TEST_CASE("a CPU that a claim has is swapped for a free one")
{
    Setting s;
    s.add("c", request_cpus(2));
    s.taken["cpudev003"] = "other/x";

    ClaimsPlan plan = s.plan({2, 3});

    CHECK(words(plan) == "cpu=2,15");
    CHECK(plan.wait == "");
    CHECK(words(s.plan({})) == "cpu=15,14"); // Slurm did not tell
}

TEST_CASE("where no free one is left it is waited for")
{
    Setting s;
    s.add("c", request_cpus(2));
    for (int i = 0; i < 15; i++)
        s.taken[std::format("cpudev{:03}", i)] = "other/x";

    ClaimsPlan plan = s.plan({2, 3});

    CHECK(plan.misfit == "");
    CHECK(plan.wait.contains("is still taken by the ResourceClaim other/x"));
    CHECK(plan.bad_node);
}

TEST_CASE("too few CPU devices on the node are a misfit")
{
    Setting s;
    s.add("c", request_cpus(17));

    ClaimsPlan plan = s.plan({0, 1});

    CHECK(plan.misfit.contains("16 CPU devices for request cpu"));
    CHECK(plan.misfit.contains("wants 17"));
    CHECK(plan.bad_node);
}

TEST_CASE("selectors choose among what is free, not only the job's own")
{
    Setting s;
    s.add("c", R"("requests":[)" + cpus("a", 2, on_numa(1)) + "]");
    CHECK(words(s.plan({6, 7, 8})) == "a=8,15");

    s.add("any", request_cpus(1));
    ClaimsPlan plan = s.plan({8, 9, 10});
    CHECK(words(plan, 0) == "a=8,9");
    CHECK(words(plan, 1) == "cpu=10");
}

TEST_CASE("a picky request of a claim comes before one that takes any")
{
    Setting s;
    s.add("c", R"("requests":[)" + cpus("any", 8) + "," +
                   cpus("one", 8, on_numa(0)) + "]");

    ClaimsPlan plan = s.plan({0, 1, 2, 3});

    CHECK(plan.misfit == "");
    CHECK(words(plan).ends_with("one=0,1,2,3,7,6,5,4"));
}

TEST_CASE("a constraint is held by whichever CPUs do, most of them the job's")
{
    Setting s;
    s.add("c", request_cpus(4) + same_numa());

    CHECK(words(s.plan({4, 5, 6, 7})) == "cpu=4,5,6,7");
    CHECK(words(s.plan({7, 8, 9, 10})) == "cpu=8,9,10,15");
    for (int i = 8; i < 14; i++) // too few are left there
        s.taken[std::format("cpudev{:03}", i)] = "other/x";
    CHECK(words(s.plan({7, 8, 9, 10})) == "cpu=7,6,5,4");
}

TEST_CASE("claims with constraints come first, and share what there is")
{
    Setting s;
    s.add("any", request_cpus(4));
    for (const char *name : {"c", "d"})
        s.add(name, request_cpus(6) + same_numa());

    ClaimsPlan plan =
        s.plan({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});

    CHECK(plan.misfit == "");
    CHECK(words(plan, 1) == "cpu=0,1,2,3,4,5");
    CHECK(words(plan, 2) == "cpu=8,9,10,11,12,13");
    CHECK(words(plan, 0) == "cpu=6,7,14,15");
}

TEST_CASE("a constraint that no CPUs can hold is a misfit")
{
    Setting s;
    s.add("c", request_cpus(9) + same_numa());
    CHECK(s.plan({0, 1, 2}).misfit.contains("wants 9"));

    Setting distinct;
    distinct.add("c", request_cpus(2) + R"(,"constraints":[{)"
                                        R"("distinctAttribute":)"
                                        R"("dra.cpu/numaNodeID"}])");
    CHECK(words(distinct.plan({0, 1, 2, 8})) == "cpu=0,8");
}

TEST_CASE("GPUs and CPUs of one claim: each from what the job has of it")
{
    Setting s;
    s.add("c",
          R"("requests":[)" + cpus("cpu", 2) + "," + exactly("gpu", 1) + "]");

    ClaimsPlan plan = s.plan({4, 5}, {2});

    CHECK(words(plan) == "cpu=4,5 gpu=2");
    CHECK(s.plan({4, 5}, {}).misfit.contains("gets 0 of 1 devices"));
    CHECK(s.plan({4, 5}, {1, 2}).misfit.contains("no claim"));
}

TEST_CASE("no CPU device is given where none is on offer")
{
    Setting s;
    s.add("c", request_cpus(1));
    s.node = make_node("kn2"); // whose they are not
    CHECK(s.plan({0}).misfit.contains("Node kn2 has no CPU device"));
}

TEST_CASE(
    "what is looked at for one plan is bounded, however often it is asked")
{
    Setting s;
    std::vector<ResourceSlicePtr> slices = {
        std::make_shared<const ResourceSlice>(make_cpu_slice("kn1", 128))};
    s.pools = device_pools(slices);
    s.add("c", request_cpus(2) +
                   R"(,"constraints":[{"matchAttribute":"dra.cpu/cpuID"}])");
    CpuOffer all =
        offer_cpus(s.of("dra.cpu"), {}, [](const DeviceId &) { return false; });
    CelBudget budget(CelSelector::max_sum);
    CpuChoice choice(s.needs, all, s.classes, s.node, budget);
    std::vector<std::vector<DevicePtr>> chosen(1);

    CHECK(choice.choose(chosen).contains("has 1 CPU devices")); // each alone
    CHECK(choice.choose(chosen) == "its claims are too complex");
    all.devices.resize(16); // it would not be by now
    CHECK(choice.choose(chosen) == "its claims are too complex");
}

TEST_CASE("a node full of claims that want a NUMA node each is not too much")
{
    Setting s;
    std::vector<ResourceSlicePtr> slices = {
        std::make_shared<const ResourceSlice>(make_cpu_slice("kn1", 128))};
    s.pools = device_pools(slices);
    for (int i = 0; i < 64; i++)
        s.add("c" + std::to_string(i), request_cpus(2) + same_numa());

    ClaimsPlan plan = s.plan({});

    CHECK(plan.misfit == "");
    CHECK(plan.wait == "");
    CHECK(plan.claims.size() == 64);
}
