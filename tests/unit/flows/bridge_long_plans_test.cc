// SPDX-License-Identifier: GPL-2.0-or-later
// The plan for the devices of a job with many nodes is made in several turns of
// the owner thread.
#include "tests/unit/flows/answer_world.h"
#include "tests/unit/flows/claim_gang_world.h"

#include <doctest/doctest.h>
#include <format>
#include <map>
#include <set>
#include <string>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

// A gang on many nodes, each of whose Pods asks for a device by many selectors.
struct DearGang : ClaimGangWorld {
    static constexpr int on_each = 16; // devices, and Pods
    const int nodes;
    const int pods;

    explicit DearGang(int count)
        : ClaimGangWorld(count), nodes(count), pods(count * on_each)
    {
        for (int i = 1; i <= nodes; i++)
            deliver(Changed<ResourceSlice>{
                make_slice("kn" + std::to_string(i), on_each), false});
        pass(seconds(5));
        std::string selectors;
        for (int i = 0; i < 32; i++)
            selectors += std::format(
                R"({}{{"cel":{{"expression":"device.driver != 'x{}'"}}}})",
                i ? "," : "", i);
        const std::string request =
            R"("requests":[)" +
            exactly("gpu", 1, R"(,"selectors":[)" + selectors + "]") + "]";
        for (int i = 0; i < pods; i++) {
            kube.put_claim(claim_text(name(i), request));
            Pod pod =
                make_member(name(i), std::to_string(pods), MilliCpu{1000});
            pod.resource_claims = {{"gpu", name(i), "", false, false}};
            kube.put(std::move(pod));
        }
    }

    void check_all_bound() const
    {
        CHECK(bound(pods) == pods);
        CHECK(slurm.jobs().size() == 1);
        std::map<std::string, ResourceClaim> claims;
        for (ResourceClaim &one : kube.claims()) {
            std::string name = one.key.name;
            claims[name] = std::move(one);
        }
        std::set<DeviceId> others;
        for (int i = 0; i < pods; i++)
            check_claim(i, claims.at(name(i)), 1, others);
    }
};

} // namespace

TEST_CASE("a gang gets many devices on many nodes by many selectors")
{
    DearGang world(20);
    world.pass(seconds(20));

    world.check_all_bound();
    CHECK(world.most_turns >= 6); // some nodes in each
}

TEST_CASE("a job whose plan takes several turns is given up like any other")
{
    DearGang world(8);
    step_to_allocation(world);
    for (int i = 1; i <= world.nodes; i++) // each is planned for anew
        take_first_device(world, "kn" + std::to_string(i));

    world.pass(seconds(8));
    CHECK(world.slurm.jobs().size() == 1);
    CHECK(world.bound(world.pods) == 0);
    world.pass(seconds(8));
    CHECK(world.slurm.jobs().size() > 1);
}

TEST_CASE(
    "a gang is bound while drivers of other Nodes publish again and again")
{
    DearGang world(8);
    step_to_allocation(world);
    auto planned = [&] { return world.kube.count("write_claim_status") > 0; };
    for (int i = 0; i < 200 && !planned(); i++) {
        world.now += seconds(1);
        world.post(Changed<ResourceSlice>{
            make_slice("far" + std::to_string(i % 10), 1 + i % 2), false});
        world.step(2);
    }
    CHECK(planned());
    world.pass(seconds(5));
    world.check_all_bound();
}
