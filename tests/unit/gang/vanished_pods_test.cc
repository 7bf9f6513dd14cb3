// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/vanished_pods.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

Pod running_pod(seconds grace)
{
    Pod pod = make_pod("web");
    pod.node_name = "kn1";
    pod.phase = "Running";
    pod.grace_period = grace;
    return pod;
}

Pod deleted_within(Pod pod, seconds grace)
{
    pod.deleting = true;
    pod.deletion_grace = grace;
    return pod;
}

// How long its Node is in use after it vanished at `gone`.
seconds in_use(const VanishedPods &pods, Clock::time_point gone)
{
    return std::chrono::duration_cast<seconds>(pods.next_end() - gone);
}

const Clock::time_point start{seconds(1000000)};

} // namespace

TEST_CASE("a Pod that vanishes while it runs has its whole grace period")
{
    VanishedPods pods;
    Pod pod = running_pod(seconds(60));
    pods.note(pod, start);

    CHECK(pods.record_gone(deleted_within(pod, seconds(0)), 2, start));

    CHECK(in_use(pods, start) == seconds(60) + vanished_margin);
    REQUIRE(pods.on("kn1").size() == 1);
    CHECK(pods.on("kn1")[0].cpus == 2);
    CHECK(pods.on("kn2").empty());
    CHECK(pods.count() == 1);
    CHECK(pods.drop_over(start + seconds(69)).empty());
    CHECK(pods.drop_over(start + seconds(70)) == std::set<std::string>{"kn1"});
    CHECK(pods.on("kn1").empty());
    CHECK(pods.next_end() == Clock::time_point::max());
}

TEST_CASE("one that was stopping has the rest of that grace period")
{
    VanishedPods pods;
    Pod pod = deleted_within(running_pod(seconds(60)), seconds(60));
    pods.note(pod, start);
    pods.note(pod, start + seconds(10)); // another change of it
    Clock::time_point gone = start + seconds(20);

    SUBCASE("")
    {
        pods.record_gone(pod, 1, gone);
        CHECK(in_use(pods, gone) == seconds(40) + vanished_margin);
    }
    SUBCASE("a deletion by force is no grace period")
    {
        Pod forced = deleted_within(pod, seconds(0));
        pods.note(forced, gone);
        pods.record_gone(forced, 1, gone);
        CHECK(in_use(pods, gone) == seconds(40) + vanished_margin);
    }
    SUBCASE("one that was shortened is the Pod's own again, by force")
    {
        Pod shorter = deleted_within(pod, seconds(5));
        pods.note(shorter, start + seconds(18));
        pods.record_gone(shorter, 1, gone);
        CHECK(in_use(pods, gone) == seconds(60) + vanished_margin);
    }
    SUBCASE("a longer one counts")
    {
        Pod longer = deleted_within(running_pod(seconds(60)), seconds(600));
        longer.uid = "uid-longer";
        pods.note(longer, start);
        pods.record_gone(longer, 1, gone);
        CHECK(in_use(pods, gone) == seconds(580) + vanished_margin);
    }
    SUBCASE("and the margin at least")
    {
        gone = start + seconds(600);
        pods.record_gone(pod, 1, gone);
        CHECK(in_use(pods, gone) == vanished_margin);
    }
}

TEST_CASE("a Pod that has ended, or was on no Node, leaves nothing behind")
{
    VanishedPods pods;
    Pod ended = with_end(running_pod(seconds(60)), "Failed");
    pods.note(ended, start);

    CHECK_FALSE(pods.record_gone(ended, 1, start));
    CHECK_FALSE(pods.record_gone(make_pod("unbound"), 1, start));
    CHECK(pods.next_end() == Clock::time_point::max());
}

TEST_CASE("a Pod that a list had missed counts no longer twice")
{
    VanishedPods pods;
    Pod pod = running_pod(seconds(60));
    pods.record_gone(pod, 1, start);
    REQUIRE(pods.on("kn1").size() == 1);

    pods.note(pod, start + seconds(1));

    CHECK(pods.on("kn1").empty());
}
