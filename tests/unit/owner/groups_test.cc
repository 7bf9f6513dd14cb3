// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/groups.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <chrono>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using std::chrono::milliseconds;

namespace {

// A PodGroup of Kubernetes, with a Pod that waits.
struct Bed : OwnerBed {
    GangStore gangs;
    Agenda agenda{context};
    Groups groups{context, errands, agenda, gangs};
    std::string uid;

    Bed()
    {
        GroupSpec spec;
        spec.api = GroupApi::workload;
        spec.key = {"default", "g"};
        spec.uid = "u-1";
        spec.resource_version = "1";
        GroupsListed listed{GroupApi::workload, std::vector{spec}};
        groups.take(listed);
        Pod pod = make_pod("web");
        pod.gang = gang_key(pod.key, {}, {}, {}, "g");
        uid = gangs.put(std::move(pod));
    }

    GangEntry &entry() { return *gangs.find(uid); }
    // The Pod is told this; returns how many writes wait.
    std::size_t say(const std::string &message)
    {
        entry().told = message;
        groups.report(uid);
        return reporters.size();
    }
    std::size_t written() { return kube.count("patch_group"); }
    bool woken() { return agenda.take().contains(uid); }
};

} // namespace

TEST_CASE("of a PodGroup one write waits, in the lane of its namespace")
{
    Bed bed;
    for (int i = 0; i < 200; i++)
        CHECK(bed.say("message " + std::to_string(i)) == 1);
    bool patched = false;
    bed.errands.report([&](Kube &) { patched = true; });
    (*bed.reporters.pop())(bed.kube);
    CHECK(patched);
    CHECK(bed.written() == 0);

    bed.settle();
    CHECK(bed.written() == 1);
    CHECK(bed.woken()); // there is a newer message
}

TEST_CASE("a message that changes is written to the PodGroup once a second")
{
    Bed bed;
    std::string last;
    for (int i = 0; i < 2000; i++) { // 10 s
        last = "message " + std::to_string(i);
        bed.say(last);
        bed.settle();
        bed.pass(milliseconds(5));
        bed.groups.report_due();
    }
    CHECK(bed.written() == 10);

    CHECK(bed.woken());
    CHECK(bed.say(last) == 1);
    bed.settle();
    CHECK(bed.groups.due() == bed.context.now + std::chrono::seconds(1));
    CHECK(bed.say(last) == 0);
    CHECK_FALSE(bed.woken());

    bed.pass(std::chrono::seconds(1));
    bed.groups.report_due();
    CHECK_FALSE(bed.woken()); // nothing waits
    CHECK(bed.groups.due() == Clock::time_point::max());
}

TEST_CASE("that a PodGroup is scheduled is written at once")
{
    Bed bed;
    CHECK(bed.say("message") == 1);
    bed.gangs.set_job(bed.entry(), make_job(1, JobState::running),
                      bed.context.now);
    CHECK(bed.say("message") == 1); // the other write is under way
    bed.settle();
    CHECK(bed.woken());
    CHECK(bed.say("message") == 1);
    bed.settle();
    CHECK(bed.written() == 2);
    CHECK(bed.entry().group_told == "u-1 True");
}
