// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/decide_batch.h"

#include "agent/batch/table.h"
#include "agent/gang/batch_mark.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

const NodeMap nodes{{"kn1", "kn1"}};

Pod batch_pod()
{
    Pod pod = make_pod("web");
    pod.annotations["slurmk8s/sbatch"] =
        encode(BatchMark{{7, Sluid{1007}}, std::string(32, 'a')});
    return pod;
}

Gang batch_gang(std::optional<Job> job)
{
    Gang gang;
    gang.uid = "uid-web";
    gang.key = {"default", "web"};
    gang.batch = true;
    gang.pods = {std::make_shared<const Pod>(batch_pod())};
    gang.job = std::move(job);
    return gang;
}

} // namespace

TEST_CASE("a batch job is never asked for again")
{
    Gang gang = batch_gang(std::nullopt);
    CHECK(is_kind<Wait>(decide(gang, nodes)));

    gang.of_batch.gone = true;
    Decision action = decide(gang, nodes);
    REQUIRE(is_kind<FailPods>(action));
    CHECK(as_kind<FailPods>(action)->job == JobRef{7, Sluid{1007}});

    gang = batch_gang(make_job(7, JobState::cancelled));
    gang.least_generation = 1; // else FailPods of any Pod
    action = decide(gang, nodes);
    REQUIRE(is_kind<FailPods>(action));
    CHECK(as_kind<FailPods>(action)->state == JobState::cancelled);
}

TEST_CASE("what would renew another Pod's job ends a batch job as failed")
{
    Gang gang = batch_gang(make_job(7, JobState::configuring));
    gang.placement.misplaced_reason = "the Node is gone";

    Decision action = decide(gang, nodes);

    REQUIRE(is_kind<Complete>(action));
    CHECK(as_kind<Complete>(action)->status == 1 << 8);
    CHECK(as_kind<Complete>(action)->reason == "the Node is gone");
    gang = batch_gang(make_job(7, JobState::timeout));
    CHECK(is_kind<FailPods>(decide(gang, nodes)));
}

TEST_CASE(
    "a batch job that no node can take waits in the queue like a native one")
{
    Gang gang = batch_gang(make_job(7, JobState::pending));
    gang.job->prefers = true;
    gang.job->reason = "BadConstraints";

    Decision action = decide(gang, nodes);

    REQUIRE(is_kind<Wait>(action));
    CHECK(as_kind<Wait>(action)->reason == "no node satisfies its preference");
}

TEST_CASE("a Pod with a mark elsewhere is like any other")
{
    Gang gang = batch_gang(std::nullopt);
    gang.batch = false;

    CHECK(is_kind<Submit>(decide(gang, nodes)));
}

TEST_CASE("what can never run says why while it waits")
{
    Gang gang = batch_gang(std::nullopt);

    Decision action = decide_batch(gang, Refuse{"no such Pod"});

    REQUIRE(is_kind<Wait>(action));
    CHECK(as_kind<Wait>(action)->reason == "no such Pod");
    gang.of_batch.gone = true;
    CHECK(is_kind<FailPods>(decide_batch(gang, Refuse{"no such Pod"})));
}

TEST_CASE("a container that no kubelet can start ends the job with the reason")
{
    Gang gang = batch_gang(make_job(7, JobState::running));
    gang.of_batch.start_failure_reason = "InvalidImageName: a::b";

    Decision action = decide_batch(gang, Wait{});

    REQUIRE(is_kind<Complete>(action));
    CHECK(as_kind<Complete>(action)->status == 1 << 8);
    CHECK(as_kind<Complete>(action)->reason ==
          gang.of_batch.start_failure_reason);
    gang.job->state = JobState::pending;
    CHECK(is_kind<Wait>(decide_batch(gang, Wait{})));
    gang.job->state = JobState::cancelled;
    CHECK(is_kind<Wait>(decide_batch(gang, Wait{})));
}

TEST_CASE("a job that has lost its node ends only once it has one again")
{
    Gang gang = batch_gang(make_job(7, JobState::pending));
    Complete end{gang.job->ref, 0, ""};

    CHECK(is_kind<Wait>(decide_batch(gang, end)));
    gang.job->state = JobState::configuring;
    CHECK(is_kind<Complete>(decide_batch(gang, end)));
}

TEST_CASE("a batch job with its node is bound like any other")
{
    Gang gang = batch_gang(make_job(7, JobState::configuring));

    CHECK(is_kind<Bind>(decide(gang, nodes)));
    gang.unheard = true; // slurmctld may have crashed, and placed it anew
    CHECK(is_kind<Look>(decide(gang, nodes)));
}

TEST_CASE("a Pod that was made for another node is made anew, and not bound")
{
    auto says = [](const char *place, JobState state) {
        Gang gang = batch_gang(make_job(7, state));
        Pod pod = batch_pod();
        pod.annotations["slurmk8s/sbatch-node"] = place;
        gang.pods = {std::make_shared<const Pod>(pod)};
        return gang;
    };
    for (const char *place : {"0 1 kn2", "0 2 kn1"}) {
        CAPTURE(place);
        Gang gang = says(place, JobState::configuring);
        CHECK(is_kind<Remake>(decide(gang, nodes)));
        gang.stale = true; // it may have that node again
        CHECK(is_kind<Look>(decide(gang, nodes)));
        gang = says(place, JobState::suspended);
        CHECK(is_kind<ResumeJob>(decide(gang, nodes)));
        gang = says(place, JobState::pending);
        CHECK(is_kind<Wait>(decide(gang, nodes)));
    }
    CHECK(is_kind<Bind>(decide(says("0 1 kn1", JobState::configuring), nodes)));
}

TEST_CASE("a batch job is due once, and after each failure later")
{
    BatchTable table;
    Clock::time_point now{};
    JobRef job{7, Sluid{1007}};
    CHECK(table.next_due() == Clock::time_point::max());

    table.want(job, now);
    CHECK(table.pop_due(now) == std::vector{job});
    table.want(job, now); // it is known
    CHECK(table.pop_due(now).empty());
    CHECK(table.next_due() == Clock::time_point::max());

    Clock::time_point last = now;
    for (int i = 0; i < 12; i++) {
        CHECK(table.retry(job, now, seconds(1000)));
        CHECK(table.next_due() > last);
        CHECK(table.next_due() <= now + seconds(30));
        now = last = table.next_due();
        CHECK(table.pop_due(now - std::chrono::milliseconds(1)).empty());
        CHECK(table.pop_due(now).size() == 1);
    }
    CHECK(table.retry(job, now, seconds(1))); // so do all others
    CHECK(table.is_stuck(now, seconds(1)));
    CHECK_FALSE(table.is_stuck(now, std::chrono::hours(1)));
    table.record_made(now);
    CHECK_FALSE(table.retry(job, now, seconds(1)));
    CHECK(table.retry(job, now, std::chrono::hours(1)));
    table.postpone(job, now);
    CHECK_FALSE(table.is_stuck(now, seconds(1)));
    CHECK(table.pop_due(now).empty());
    now = table.next_due();
    CHECK(table.pop_due(now).size() == 1);
    CHECK(table.retry(job, now, seconds(1))); // the time before is forgotten
    CHECK(table.drop(job));
    CHECK_FALSE(table.drop(job));
    CHECK_FALSE(table.retry(job, now, seconds(1000)));
}

TEST_CASE(
    "a batch job that is dropped while its Pod is made has one try at a time")
{
    using Try = BatchTable::Try;
    BatchTable table;
    Clock::time_point now{};
    JobRef job{7, Sluid{1007}};
    CHECK(table.finish(job) == Try::dropped); // nobody knows it
    table.want(job, now);
    REQUIRE(table.pop_due(now).size() == 1);
    CHECK(table.drop(job));
    CHECK_FALSE(table.drop(job));
    CHECK(table.next_due() == Clock::time_point::max());

    SUBCASE("and is not tried again")
    {
        CHECK(table.finish(job) == Try::dropped);
        CHECK_FALSE(table.drop(job));
    }
    SUBCASE("nor when it was wanted, and dropped once more")
    {
        table.want(job, now);
        CHECK(table.drop(job));
        CHECK(table.finish(job) == Try::dropped);
        CHECK_FALSE(table.drop(job));
    }
    SUBCASE("and is tried again if it is wanted since")
    {
        table.want(job, now + seconds(10));
        CHECK(table.pop_due(now + seconds(10)).empty());
        CHECK(table.finish(job) == Try::again);
        CHECK(table.next_due() == now + seconds(10));
        CHECK(table.pop_due(now + seconds(10)).size() == 1);
        CHECK(table.finish(job) == Try::counts);
        CHECK(table.drop(job));
    }
    CHECK(table.next_due() == Clock::time_point::max());
}

TEST_CASE("a batch job that has given its Pods back waits longer each time")
{
    BatchTable table;
    Clock::time_point now{};
    JobRef job{7, Sluid{1007}};
    table.want(job, now);

    for (int times : {1, 2, 4, 8, 8}) {
        CHECK(table.pop_due(now).size() == 1);
        CHECK(table.retry(job, now, seconds(1000), seconds(40)));
        CHECK(table.next_due() == now + times * seconds(40));
        now = table.next_due();
    }
    CHECK(table.pop_due(now).size() == 1);
    CHECK(table.retry(job, now, seconds(1000)));
    CHECK(table.next_due() <= now + seconds(30));
}

TEST_CASE("a batch job that could not be bound for its devices says so")
{
    Gang gang = batch_gang(make_job(7, JobState::configuring));
    gang.bind_overdue = true;
    GangDevices devices;
    devices.reason = "no rights";
    gang.devices = std::make_shared<const GangDevices>(devices);

    Decision action = decide(gang, nodes);
    REQUIRE(is_kind<Complete>(action));
    CHECK(as_kind<Complete>(action)->reason.ends_with("in time: no rights"));

    devices.unfit_reason = "no such class";
    gang.devices = std::make_shared<const GangDevices>(devices);
    action = decide(gang, nodes);
    REQUIRE(is_kind<Complete>(action));
    CHECK(
        as_kind<Complete>(action)->reason.ends_with("in time: no such class"));
}

TEST_CASE("what claims of a batch job's Pods have of before is given back")
{
    GangDevices devices;
    devices.left = {{{"default", "c"}, "uid-of-c", "uid-web"}};
    for (bool grouped : {true, false})
        for (bool has_job : {true, false}) {
            CAPTURE(grouped);
            CAPTURE(has_job);
            Gang gang = batch_gang(std::nullopt);
            if (has_job)
                gang.job = make_job(7, JobState::pending);
            gang.grouped = grouped;
            Pod pod = batch_pod();
            pod.extended = {{"job", 0, false, {{"example.com/gpu", 1, 0}}}};
            gang.pods = {std::make_shared<const Pod>(pod)};
            gang.devices = std::make_shared<const GangDevices>(devices);

            CHECK(is_kind<ReleaseClaims>(decide(gang, nodes)));
        }
}

TEST_CASE("a batch job that waits again is not given up for its GRES")
{
    Job job = make_job(7, JobState::pending);
    Gang gang = batch_gang(job);
    Pod pod = batch_pod();
    pod.extended = {{"job", 0, false, {{"example.com/gpu", 1, 0}}}};
    gang.pods = {std::make_shared<const Pod>(pod)};
    GangDevices devices;
    devices.gres = "gres/gpu:g:1"; // which it did not ask for by task
    gang.devices = std::make_shared<const GangDevices>(devices);

    CHECK(is_kind<Wait>(decide(gang, nodes)));
}
