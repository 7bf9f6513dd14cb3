// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/claims.h"

#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <utility>

using namespace bridge;

namespace {

const ObjectKey key{"default", "c"};

// A claim for one GPU, and what is planned for it.
struct Setting {
    FakeKube kube;
    Pod pod = make_pod("web");
    ClaimPlan plan{key, "uid-of-c", false, {}, {}, {}};

    explicit Setting(const std::string &status = "{}")
    {
        kube.put_claim(claim_text("c", request_gpus(1), "", status));
        plan.classes = {{"gpu.example.com", make_class()}};
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_slice("kn1"))};
        plan.chosen = {{"gpu", device_pools(slices).at(0).devices.at(1), ""}};
    }

    Result<> reserve() { return reserve_claims(pod, {plan}, "kn1", kube); }
    Result<> release()
    {
        return release_claims(pod, {{key, "uid-of-c"}}, kube);
    }
    ResourceClaim claim() const { return kube.claims().at(0); }
};

std::string allocated(const std::string &device, const std::string &uids)
{
    std::string reserved;
    for (char c : uids)
        reserved += std::string(reserved.empty() ? "" : ",") +
                    R"({"resource":"pods","name":"p","uid":"uid-)" + c +
                    R"("})";
    return R"({"allocation":{"devices":{"results":[{"request":"gpu","driver":)"
           R"("gpu.example.com","pool":"kn1","device":")" +
           device + R"("}]}},"reservedFor":[)" + reserved + "]}";
}

} // namespace

TEST_CASE(
    "a claim gets the finalizer, then its devices and the Pod in one write")
{
    Setting s;

    REQUIRE(s.reserve());

    ResourceClaim claim = s.claim();
    CHECK(claim.has_finalizer);
    CHECK(claim.allocated);
    CHECK(claim.devices ==
          std::vector<DeviceId>{{"gpu.example.com", "kn1", "gpu-1"}});
    CHECK(claim.is_reserved_for("uid-web"));
    CHECK(s.kube.count("write_claim") == 1);
    CHECK(s.kube.count("write_claim_status") == 1);
}

TEST_CASE("a claim that the watch has told of is not read again")
{
    Setting s;
    s.plan.text = s.kube.read_claim(key)->text;
    auto reads = s.kube.count("read_claim");

    REQUIRE(s.reserve());

    CHECK(s.kube.count("read_claim") == reads);
    CHECK(s.claim().allocated);
    CHECK(s.claim().is_reserved_for("uid-web"));
}

TEST_CASE("a claim that has changed since the watch told of it is read again")
{
    Setting s;
    s.plan.text = s.kube.read_claim(key)->text;

    SUBCASE("somebody else has written to it")
    {
        s.kube.put_claim(claim_text("c", request_gpus(1), "", "{}"));
        REQUIRE(s.reserve());
        CHECK(s.claim().is_reserved_for("uid-web"));
    }
    SUBCASE("it has devices now")
    {
        s.kube.put_claim(
            claim_text("c", request_gpus(1), "", allocated("gpu-3", "a")));
        auto said = s.reserve();
        REQUIRE(!said);
        CHECK(said.error().code == Code::conflict);
        CHECK(s.claim().devices ==
              std::vector<DeviceId>{{"gpu.example.com", "kn1", "gpu-3"}});
    }
}

TEST_CASE("what is done already is not done again")
{
    Setting s;
    REQUIRE(s.reserve());
    REQUIRE(s.reserve());

    CHECK(s.kube.count("write_claim") == 1);
    CHECK(s.kube.count("write_claim_status") == 1);
    CHECK(s.claim().reserved_for.size() == 1);
}

TEST_CASE("an allocated claim only gets one more consumer")
{
    Setting s(allocated("gpu-3", "a"));
    s.plan.allocated = true;
    s.plan.has = s.claim().devices;

    REQUIRE(s.reserve());

    CHECK(s.kube.count("write_claim") == 0);
    CHECK(s.claim().reserved_for.size() == 2);
    CHECK(s.claim().devices.at(0).device == "gpu-3");
}

TEST_CASE("an allocated claim that has other devices now is left alone")
{
    Setting s(allocated("gpu-3", "a"));
    s.plan.allocated = true;
    s.plan.has = {{"gpu.example.com", "kn1", "gpu-2"}};

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::conflict);
    CHECK(s.claim().reserved_for.size() == 1);
}

TEST_CASE("somebody else's write in between: the claim is read again")
{
    Setting s;
    int writes = 0;
    s.kube.before_claim_write = [&](const ObjectKey &) {
        if (++writes <= 2) // one for each of ours
            s.kube.put_claim(s.kube.claim(key));
    };

    REQUIRE(s.reserve());

    CHECK(s.claim().has_finalizer);
    CHECK(s.claim().reserved_for.size() == 1);
}

TEST_CASE("somebody else's allocation is left alone")
{
    Setting s;
    bool done = false;
    s.kube.before_claim_write = [&](const ObjectKey &) {
        if (!std::exchange(done, true))
            s.kube.put_claim(
                claim_text("c", request_gpus(1), "", allocated("gpu-3", "a")));
    };

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::conflict);
    CHECK(s.claim().devices.at(0).device == "gpu-3");
    CHECK_FALSE(s.claim().is_reserved_for("uid-web"));
}

TEST_CASE("an answer that was lost is looked up")
{
    Setting s;
    s.kube.lose_reply("write_claim_status");

    REQUIRE(s.reserve());

    CHECK(s.claim().reserved_for.size() == 1);
    CHECK(s.kube.count("write_claim_status") == 1);
}

TEST_CASE("what the API server refuses is said, and nobody tries again")
{
    Setting s;
    s.kube.fail_next("write_claim_status", Code::rejected);

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::rejected);
    CHECK(s.kube.count("write_claim_status") == 1);
}

TEST_CASE("a claim that others write to all the time is left for later")
{
    Setting s;
    s.kube.before_claim_write = [&](const ObjectKey &) {
        s.kube.put_claim(s.kube.claim(key));
    };

    auto said = s.reserve();

    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::busy);
}

TEST_CASE("a claim that is another one now, or goes, is not touched")
{
    Setting s;
    s.plan.uid = "uid-of-older";
    CHECK(s.reserve().error().code == Code::conflict);
    s.plan.uid = "uid-of-c";
    s.kube.erase_claim(key);
    CHECK(s.reserve().error().code == Code::not_found);
    CHECK(s.kube.count("write_claim") == 0);
}

TEST_CASE("the last consumer gives devices and finalizer back")
{
    Setting s;
    REQUIRE(s.reserve());
    REQUIRE(s.release());

    CHECK_FALSE(s.claim().allocated);
    CHECK(s.claim().reserved_for.empty());
    CHECK_FALSE(s.claim().has_finalizer);
    REQUIRE(s.release()); // nothing is left to do
    CHECK(s.kube.count("write_claim_status") == 2);
}

TEST_CASE("one of several consumers only gives its reservation back")
{
    Setting s(allocated("gpu-3", "a"));
    s.plan.allocated = true;
    s.plan.has = s.claim().devices;
    REQUIRE(s.reserve());
    REQUIRE(s.release());

    CHECK(s.claim().allocated);
    CHECK(s.claim().reserved_for.size() == 1);
    CHECK_FALSE(s.claim().is_reserved_for("uid-web"));
}

TEST_CASE("a finalizer without an allocation is taken back, too")
{
    Setting s;
    s.kube.fail_next("write_claim_status", Code::busy);
    CHECK_FALSE(s.reserve());
    CHECK(s.claim().has_finalizer);

    REQUIRE(s.release());

    CHECK_FALSE(s.claim().has_finalizer);
    s.kube.erase_claim(key);
    CHECK(s.release()); // it is gone
}
