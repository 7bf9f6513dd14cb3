// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/extended.h"

#include "agent/act/claims.h"
#include "agent/gres/extended_claim.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// A Pod that asks for one GPU by its resource, and what is planned for it.
struct Setting {
    FakeKube kube;
    Pod pod = make_pod("web");
    ClaimPlan plan;

    Setting()
    {
        pod.extended = {{"main", 0, false, {{"example.com/gpu", 1, 0}}}};
        DeviceClass offers = make_class();
        offers.extended_resource_name = "example.com/gpu";
        DeviceClasses classes = {{offers.name, offers}};
        ExtendedNeeds needs = extended_needs(pod, classes, nullptr);
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_slice("kn1"))};
        plan.key = needs.claim->key;
        plan.uid = needs.claim->uid;
        plan.body = needs.body;
        plan.mappings = needs.mappings;
        plan.classes = classes;
        plan.chosen = {{"container-0-request-0",
                        device_pools(slices).at(0).devices.at(1), ""}};
        kube.put(pod);
    }

    Result<> reserve() { return reserve_claims(pod, {plan}, "kn1", kube); }
    ResourceClaim claim() const
    {
        auto all = kube.claims();
        REQUIRE(all.size() == 1);
        return all.at(0);
    }
    std::string kept() const { return kube.find(pod.key)->extended_claim; }
};

} // namespace

TEST_CASE("the claim is made, gets its devices, and is named on the Pod")
{
    Setting s;

    REQUIRE(s.reserve());
    auto told = write_extended_status(s.pod, {s.plan}, s.kube);

    REQUIRE(told);
    CHECK(*told);
    ResourceClaim claim = s.claim();
    CHECK(is_extended_claim(claim, s.pod));
    CHECK(claim.has_finalizer);
    CHECK(claim.is_reserved_for(s.pod.uid));
    CHECK(claim.devices ==
          std::vector<DeviceId>{{"gpu.example.com", "kn1", "gpu-1"}});
    CHECK(s.kept() == claim.key.name);
    CHECK(s.kube.calls().back().detail ==
          claim.key.name + " main:example.com/gpu=container-0-request-0");
    CHECK(s.kube.count("write_claim") == 0); // it is made with the finalizer
}

TEST_CASE("what is done already is found, whoever did it")
{
    Setting s;
    REQUIRE(s.reserve());
    REQUIRE(s.reserve());

    CHECK(s.claim().reserved_for.size() == 1);
    CHECK(s.kube.count("write_claim_status") == 1);
}

TEST_CASE("a claim whose making got no answer is looked up")
{
    Setting s;
    s.kube.lose_reply("create_claim");
    REQUIRE(s.reserve());
    CHECK(s.claim().allocated);

    Setting other;
    other.kube.fail_next("create_claim", Code::uncertain);
    auto said = other.reserve();
    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::busy); // and it is tried again
    CHECK(other.reserve());
}

TEST_CASE("a claim of the name that is somebody else's is left alone")
{
    Setting s;
    s.kube.put_claim(claim_text(s.plan.key.name, request_gpus(1), "another"));

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::rejected);
    CHECK(said.error().message.contains("belongs to something else"));
    CHECK_FALSE(s.claim().allocated);
    REQUIRE(remove_extended(s.pod, s.kube));
    CHECK(s.kube.claims().size() == 1);
}

TEST_CASE("a claim that its owner made in our place must ask for the same")
{
    Setting s;
    std::string other = s.plan.body;
    std::string one = "\"count\":1";
    REQUIRE(other.contains(one));
    other.replace(other.find(one), one.size(), "\"count\":2");
    REQUIRE(s.kube.create_claim("default", other));

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::rejected);
    CHECK(said.error().message.contains("does not match its extended"));
    CHECK_FALSE(s.claim().allocated);
}

TEST_CASE("what is being deleted is given back all the same")
{
    Setting s;
    REQUIRE(s.reserve());
    REQUIRE(s.kube.delete_claim(s.plan.key, s.claim().uid));
    REQUIRE(s.claim().deleting);

    REQUIRE(remove_extended(s.pod, s.kube));

    CHECK(s.kube.claims().empty());
}

TEST_CASE("a full quota is told as it is")
{
    Setting s;
    s.kube.fail_next("create_claim", Code::denied);
    CHECK(s.reserve().error().code == Code::denied);
    CHECK(s.kube.claims().empty());
}

TEST_CASE("an API server without the feature gate keeps nothing")
{
    Setting s;
    s.kube.keeps_extended = false;
    REQUIRE(s.reserve());

    auto told = write_extended_status(s.pod, {s.plan}, s.kube);

    REQUIRE(told);
    CHECK_FALSE(*told);
}

TEST_CASE("what is said on the Pod is never of unknown outcome")
{
    Setting s;
    s.kube.lose_reply("set_extended_claim");
    auto told = write_extended_status(s.pod, {s.plan}, s.kube);
    REQUIRE_FALSE(told);
    CHECK(told.error().code == Code::busy);
}

TEST_CASE("the claim goes with its devices, and only once")
{
    Setting s;
    REQUIRE(remove_extended(s.pod, s.kube)); // there is none
    REQUIRE(s.reserve());

    REQUIRE(remove_extended(s.pod, s.kube));

    CHECK(s.kube.claims().empty());
    REQUIRE(remove_extended(s.pod, s.kube));
    CHECK(s.kube.count("delete_claim") == 1);
    s.kube.fail_next("read_claim", Code::denied);
    CHECK(remove_extended(s.pod, s.kube)); // then none was ever made
    s.kube.fail_next("read_claim", Code::busy);
    CHECK(remove_extended(s.pod, s.kube).error().code == Code::busy);
}

TEST_CASE("what a Pod lives with is never taken from it")
{
    Setting s;
    REQUIRE(s.reserve());
    s.kube.change(s.pod.key, [](Pod &pod) { pod.node_name = "kn1"; });

    CHECK(remove_extended(s.pod, s.kube).error().code == Code::conflict);
    CHECK(s.claim().allocated);
}

TEST_CASE("a claim that another Pod uses, too, goes when that has ended")
{
    Setting s;
    REQUIRE(s.reserve());
    Pod other = make_pod("other");
    ClaimPlan share{s.plan.key, s.claim().uid,    true, {}, {},
                    {},         s.claim().devices};
    REQUIRE(reserve_claims(other, {share}, "kn1", s.kube));

    REQUIRE(remove_extended(s.pod, s.kube));

    CHECK(s.claim().deleting);
    CHECK(s.claim().allocated);
    CHECK_FALSE(s.claim().is_reserved_for(s.pod.uid));
    CHECK(s.claim().is_reserved_for(other.uid));
}
