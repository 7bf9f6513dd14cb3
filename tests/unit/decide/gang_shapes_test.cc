// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/gang_shapes.h"

#include "agent/decide/identity.h"
#include "agent/decide/translate.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

constexpr char asks[] = "slurmk8s/heterogeneous";

Pod member(const std::string &name, std::int64_t cpus, std::int64_t mib)
{
    Pod pod = make_member(name, "4", MilliCpu{cpus * 1000});
    pod.requests.memory = Bytes{mib << 20};
    pod.annotations[asks] = "true";
    return pod;
}

// Two large ones, of which one is the first, and two small ones.
Gang unequal()
{
    return make_train({member("a", 8, 1000), member("b", 1, 100),
                       member("c", 8, 1000), member("d", 1, 100)});
}

void annotate(Gang &gang, const std::string &name, const std::string &value)
{
    for (PodPtr &pod : gang.pods) {
        Pod with = *pod;
        with.annotations[name] = value;
        pod = share(std::move(with));
    }
}

std::vector<JobDescription> ask(const Gang &gang, unsigned max_padding = 100)
{
    Conf conf;
    conf.max_padding = max_padding;
    return describe_components(gang, describe_job(gang, Identity{}, conf),
                               conf);
}

} // namespace

TEST_CASE("Pods of two sizes that ask for it get a component for each")
{
    Gang gang = unequal();
    annotate(gang, "slurmk8s/licenses", "foo:2");

    REQUIRE(unfit_reason(gang).empty());
    auto jobs = ask(gang);

    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].tasks == 2);
    CHECK(jobs[0].cpus_per_task == 8);
    CHECK(jobs[0].memory_per_cpu == MebiBytes{125});
    CHECK(jobs[0].licenses == "foo:2");
    CHECK(jobs[1].tasks == 2);
    CHECK(jobs[1].cpus_per_task == 1);
    CHECK(jobs[1].memory_per_cpu == MebiBytes{100});
    CHECK(jobs[1].licenses.empty());
    for (const JobDescription &job : jobs) {
        CHECK(job.tag.components == 2);
        CHECK(job.tag.uid == gang.uid);
        CHECK(job.tag.first == "uid-a");
        CHECK(job.features == jobs[0].features);
        CHECK(job.name == "train");
    }
}

TEST_CASE("a component of one Pod asks for its memory as a Pod alone does")
{
    auto jobs = ask(make_train({member("a", 1, 64000), member("b", 4, 100)}));

    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].memory_per_node == MebiBytes{64000});
    CHECK(jobs[0].max_nodes == 1);
}

TEST_CASE("without the annotation MaxPadding decides")
{
    Gang gang = unequal();
    std::size_t components = 1;
    unsigned percent = 100;
    SUBCASE("not if it is not set")
    {
        annotate(gang, asks, "");
    }
    SUBCASE("18 of 32 CPUs are used, 2200 of 4000 MiB")
    {
        annotate(gang, asks, "");
        percent = 44;
        components = 2;
    }
    SUBCASE("so that 45 are just allowed")
    {
        annotate(gang, asks, "");
        percent = 45;
    }
    SUBCASE("if the Pods do not ask for one job")
    {
        annotate(gang, asks, "false");
        percent = 0;
    }
    SUBCASE("if nothing is against it")
    {
        annotate(gang, asks, "");
        annotate(gang, "slurmk8s/min-nodes", "2");
        percent = 0;
    }
    SUBCASE("equal Pods have no padding")
    {
        gang = make_train({member("a", 8, 10), member("b", 8, 10)});
        annotate(gang, asks, "");
        percent = 0;
    }

    CHECK(unfit_reason(gang).empty());
    CHECK(ask(gang, percent).size() == components);
}

TEST_CASE("equal Pods that ask for it have an ordinary job")
{
    auto jobs = ask(make_train({member("a", 8, 10), member("b", 8, 10)}));

    REQUIRE(jobs.size() == 1);
    CHECK(jobs[0].tag.components == 0);
}

TEST_CASE(
    "what a heterogeneous job cannot be is refused, where it is asked for")
{
    Gang gang = unequal();
    std::string words;
    SUBCASE("nodes of all")
    {
        annotate(gang, "slurmk8s/min-nodes", "2");
        words = "cannot have min-nodes";
    }
    SUBCASE("switches")
    {
        annotate(gang, "slurmk8s/switches", "1");
        words = "cannot have min-nodes";
    }
    SUBCASE("devices")
    {
        Pod with = *gang.pods[1];
        with.resource_claims.push_back({});
        gang.pods[1] = share(std::move(with));
        words = "cannot have Pods with devices yet";
    }
    SUBCASE("some of the Pods later")
    {
        gang.size = 5;
        words = "needs all Pods of the gang at once: 4 of 5 exist";
    }
    SUBCASE("many sizes")
    {
        std::vector<Pod> pods;
        for (int i = 1; i <= 9; i++)
            pods.push_back(member("p" + std::to_string(i), i, 10));
        gang = make_train(std::move(pods));
        words = "8 different sizes, not of 9";
    }
    SUBCASE("neither yes nor no")
    {
        annotate(gang, asks, "yes\x1b[2J");
        words = "must be true or false";
    }
    SUBCASE("some of the Pods yes, some no")
    {
        Pod other = *gang.pods[3];
        other.annotations[asks] = "false";
        gang.pods[3] = share(std::move(other));
        words = "must be the same on all Pods of a gang";
    }

    std::string reason = unfit_reason(gang);
    CHECK(reason.contains(words));
    CHECK_FALSE(reason.contains('\x1b'));
}

TEST_CASE("a Pod alone may ask for it in vain")
{
    Gang gang = make_gang(make_pod("a"));
    annotate(gang, asks, "true");

    CHECK(unfit_reason(gang).empty());
    CHECK(ask(gang).size() == 1);
}
