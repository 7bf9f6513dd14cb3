// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/workload_wishes.h"
#include "agent/decide/job_requests.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr std::chrono::seconds minute{60};

// A Pod of a Job of a JobSet, each of which asks for something.
struct Family {
    FakeKube kube;
    Owners owners;
    Pod pod = make_pod("web");
    Clock::time_point now{};

    Family()
    {
        pod.owner = {"batch/v1", "Job", "job", "uid-job"};
        kube.workloads["uid-job"] = {
            "uid-job",
            {{"slurmk8s/qos", "of-job"}},
            {"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "uid-set"}};
        kube.workloads["uid-set"] = {
            "uid-set",
            {{"slinky.slurm.net/qos", "of-set"}, {"slurmk8s/wckey", "of-set"}},
            {}};
    }

    Wishes wishes()
    {
        auto with = owners.with_wishes(pod, kube, now);
        REQUIRE(with);
        return wishes_in(with->annotations);
    }

    std::size_t reads() const { return kube.count("get_owner"); }
};

} // namespace

TEST_CASE("owners' wishes are found, the nearer ones first")
{
    Family family;
    CHECK(value_of(family.wishes(), "qos") == "of-job");
    CHECK(value_of(family.wishes(), "wckey") == "of-set");
}

TEST_CASE(
    "the Pod's own wishes go before, under whatever prefix, empty ones too")
{
    Family family;
    family.pod.annotations["slinky.slurm.net/qos"] = "of-pod";
    family.pod.annotations["slurmjob.slinky.slurm.net/wckey"] = "";
    CHECK(value_of(family.wishes(), "qos") == "of-pod");
    CHECK(value_of(family.wishes(), "wckey") == "");
}

TEST_CASE("what the agent writes is not taken from an owner")
{
    Family family;
    family.kube.workloads["uid-job"].annotations[names::sluid_annotation] =
        "s1";
    auto with = family.owners.with_wishes(family.pod, family.kube, family.now);
    REQUIRE(with);
    CHECK(with->annotation(names::sluid_annotation) == "");
}

TEST_CASE("each owner is read once a minute at most, for all of its Pods")
{
    Family family;
    family.wishes();
    family.pod = make_pod("other");
    family.pod.owner = {"batch/v1", "Job", "job", "uid-job"};
    family.wishes();
    CHECK(family.reads() == 2);
    family.kube.workloads["uid-job"].annotations["slurmk8s/qos"] = "new";
    CHECK(value_of(family.wishes(), "qos") == "of-job");
    family.now += minute;
    CHECK(value_of(family.wishes(), "qos") == "new");
    CHECK(family.reads() == 4);
}

TEST_CASE("an owner that is gone, or not to be read, ends the walk")
{
    for (Code code : {Code::not_found, Code::denied, Code::rejected}) {
        CAPTURE(static_cast<int>(code));
        Family family;
        family.kube.fail_next("get_owner", code);
        CHECK(family.wishes() == Wishes{});
        CHECK(family.wishes() == Wishes{});
        CHECK(family.reads() == 1);
    }
}

TEST_CASE("a Pod that names another's owner wrongly changes nothing for others")
{
    Family family;
    Pod other = make_pod("other");
    SUBCASE("in another namespace")
    {
        other.key.ns = "elsewhere";
        other.owner = family.pod.owner;
    }
    SUBCASE("by another name")
    {
        other.owner = family.pod.owner;
        other.owner.name = "x";
    }
    family.kube.fail_next("get_owner", Code::not_found);
    auto with = family.owners.with_wishes(other, family.kube, family.now);
    REQUIRE(with);
    CHECK(wishes_in(with->annotations).empty());

    CHECK(value_of(family.wishes(), "qos") == "of-job");
}

TEST_CASE("while an owner cannot be read nothing is concluded")
{
    for (Code code : {Code::busy, Code::uncertain, Code::internal}) {
        CAPTURE(static_cast<int>(code));
        Family family;
        family.kube.fail_next("get_owner", code);
        auto with =
            family.owners.with_wishes(family.pod, family.kube, family.now);
        REQUIRE_FALSE(with);
        CHECK(with.error().code == Code::busy); // no submit is uncertain by it
        CHECK(value_of(family.wishes(), "qos") == "of-job");
    }
}

TEST_CASE("a Pod without an owner costs nothing, and a circle of owners ends")
{
    Family family;
    family.pod.owner = {};
    CHECK(family.wishes() == Wishes{});
    CHECK(family.reads() == 0);

    Family circle;
    circle.kube.workloads["uid-set"].owner = circle.pod.owner;
    CHECK(value_of(circle.wishes(), "wckey") == "of-set");
    CHECK(circle.reads() <= 3);
}
