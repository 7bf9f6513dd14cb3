// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/gang.h"

#include "agent/gang/facts.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

// A higher one is a user's, and would overflow one day.
TEST_CASE("the generation of a Pod is a number below a million, or 0")
{
    struct Row {
        std::string text;
        std::uint32_t generation;
    };
    const Row rows[] = {
        {"", 0},
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"999999", 999999},
        {"1000000", 0},
        {"4294967295", 0},
        {"4294967296", 0},
        {"18446744073709551617", 0},
        {"-1", 0},
        {"+1", 0},
        {" 1", 0},
        {"1 ", 0},
        {"1.0", 0},
        {"0x1", 0},
        {"1e3", 0},
        {"one", 0},
        {std::string("1\0", 2), 0},
        {std::string(100000, '1'), 0},
    };
    for (const Row &row : rows) {
        CAPTURE(row.text.substr(0, 40));
        Pod pod = make_pod("web");
        pod.annotations[names::generation_annotation] = row.text;
        CHECK(generation_of(pod) == row.generation);
    }
    CHECK(generation_of(make_pod("web")) == 0);
}

TEST_CASE("the generation of a gang is the highest that is known")
{
    Gang gang = make_gang(make_pod("web-0"));
    Pod raised = make_pod("web-1");
    raised.annotations[names::generation_annotation] = "2";
    CHECK(generation_of(gang) == 0);

    gang.pods.push_back(share(raised));
    CHECK(generation_of(gang) == 2);

    gang.least_generation = 3;
    CHECK(generation_of(gang) == 3);

    gang.pods.clear();
    CHECK(generation_of(gang) == 3);
}

TEST_CASE("a Pod lives by the job that bound it, until it is over")
{
    Gang gang = make_gang(make_pod("web"));
    gang.job = make_job(7, JobState::running);
    const Pod waiting = *gang.pods[0];
    const Pod bound = with_binding(waiting, *gang.job, "kn1");
    const Pod other =
        with_binding(waiting, make_job(8, JobState::running), "kn1");

    CHECK_FALSE(lives_by_job(gang, waiting));
    CHECK(lives_by_job(gang, bound));
    CHECK(lives_by_job(gang, with_deletion(bound)));
    CHECK_FALSE(lives_by_job(gang, with_end(bound, "Failed")));
    CHECK_FALSE(lives_by_job(gang, other));
    gang.assumed_bound["uid-web"] = {};
    CHECK(lives_by_job(gang, waiting));
    gang.job.reset();
    CHECK_FALSE(lives_by_job(gang, bound));
}

TEST_CASE("Pods that are done count if another Pod of their controller waits")
{
    const std::size_t many = 5000;
    Gang gang = make_train({});
    for (std::size_t i = 0; i < many; i++) {
        Pod done = with_end(make_member("done-" + std::to_string(i), "2"),
                            "Succeeded");
        done.owner.uid = i % 2 == 0 ? "even" : "odd";
        gang.pods.push_back(share(std::move(done)));
    }
    REQUIRE(gang.pods.front()->gang->by_label);
    CHECK(count_done_before(gang) == 0);

    Pod waiting = make_member("waiting", "2");
    waiting.owner.uid = "odd";
    gang.pods.push_back(share(waiting));
    CHECK(count_done_before(gang) == many / 2);

    waiting.owner.uid.clear();
    gang.pods.back() = share(waiting);
    CHECK(count_done_before(gang) == 0);
}
