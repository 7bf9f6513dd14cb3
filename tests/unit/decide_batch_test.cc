// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide_batch.h"

#include "agent/batch_job.h"
#include "agent/batch_table.h"
#include "tests/unit/make.h"

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
    CHECK(std::holds_alternative<Wait>(decide(gang, nodes)));

    gang.batch_gone = true;
    Action action = decide(gang, nodes);
    REQUIRE(std::holds_alternative<FailPods>(action));
    CHECK(std::get<FailPods>(action).job == JobRef{7, Sluid{1007}});

    gang = batch_gang(make_job(7, JobState::cancelled));
    gang.least_generation = 1; // else FailPods of any Pod
    action = decide(gang, nodes);
    REQUIRE(std::holds_alternative<FailPods>(action));
    CHECK(std::get<FailPods>(action).state == JobState::cancelled);
}

TEST_CASE("what would renew another Pod's job ends a batch job as failed")
{
    Gang gang = batch_gang(make_job(7, JobState::configuring));
    gang.misplaced = "the Node is gone";

    Action action = decide(gang, nodes);

    REQUIRE(std::holds_alternative<Complete>(action));
    CHECK(std::get<Complete>(action).status == 1 << 8);
    CHECK(std::get<Complete>(action).why == "the Node is gone");
    gang = batch_gang(make_job(7, JobState::timeout));
    CHECK(std::holds_alternative<FailPods>(decide(gang, nodes)));
}

TEST_CASE("a Pod with a mark elsewhere is like any other")
{
    Gang gang = batch_gang(std::nullopt);
    gang.batch = false;

    CHECK(std::holds_alternative<Submit>(decide(gang, nodes)));
}

TEST_CASE("what can never run says why while it waits")
{
    Gang gang = batch_gang(std::nullopt);

    Action action = decide_batch(gang, Refuse{"no such Pod"});

    REQUIRE(std::holds_alternative<Wait>(action));
    CHECK(std::get<Wait>(action).why == "no such Pod");
    gang.batch_gone = true;
    CHECK(std::holds_alternative<FailPods>(
        decide_batch(gang, Refuse{"no such Pod"})));
}

TEST_CASE("a container that no kubelet can start ends the job with the reason")
{
    Gang gang = batch_gang(make_job(7, JobState::running));
    gang.cannot_start = "InvalidImageName: a::b";

    Action action = decide_batch(gang, Wait{});

    REQUIRE(std::holds_alternative<Complete>(action));
    CHECK(std::get<Complete>(action).status == 1 << 8);
    CHECK(std::get<Complete>(action).why == gang.cannot_start);
    gang.job->state = JobState::pending;
    CHECK(std::holds_alternative<Wait>(decide_batch(gang, Wait{})));
    gang.job->state = JobState::cancelled;
    CHECK(std::holds_alternative<Wait>(decide_batch(gang, Wait{})));
}

TEST_CASE("a job that has lost its node ends only once it has one again")
{
    Gang gang = batch_gang(make_job(7, JobState::pending));
    Complete end{gang.job->ref, 0, ""};

    CHECK(std::holds_alternative<Wait>(decide_batch(gang, end)));
    gang.job->state = JobState::configuring;
    CHECK(std::holds_alternative<Complete>(decide_batch(gang, end)));
}

TEST_CASE("a batch job with its node is bound like any other")
{
    Gang gang = batch_gang(make_job(7, JobState::configuring));

    CHECK(std::holds_alternative<Bind>(decide(gang, nodes)));
}

TEST_CASE("a batch job is due once, and after each failure later")
{
    BatchTable table;
    Clock::time_point now{};
    JobRef job{7, Sluid{1007}};
    CHECK(table.next_due() == Clock::time_point::max());

    table.want(job, now);
    CHECK(table.take_due(now) == std::vector{job});
    table.want(job, now); // it is known
    CHECK(table.take_due(now).empty());
    CHECK(table.next_due() == Clock::time_point::max());

    Clock::time_point last = now;
    for (int i = 0; i < 12; i++) {
        CHECK(table.retry(job, now, seconds(1000)));
        CHECK(table.next_due() > last);
        CHECK(table.next_due() <= now + seconds(30));
        now = last = table.next_due();
        CHECK(table.take_due(now - std::chrono::milliseconds(1)).empty());
        CHECK(table.take_due(now).size() == 1);
    }
    CHECK(table.retry(job, now, seconds(1))); // so do all others
    CHECK(table.is_stuck(now, seconds(1)));
    CHECK_FALSE(table.is_stuck(now, std::chrono::hours(1)));
    table.note_made(now);
    CHECK_FALSE(table.retry(job, now, seconds(1)));
    CHECK(table.retry(job, now, std::chrono::hours(1)));
    table.hold(job, now);
    CHECK_FALSE(table.is_stuck(now, seconds(1)));
    CHECK(table.take_due(now).empty());
    now = table.next_due();
    CHECK(table.take_due(now).size() == 1);
    CHECK(table.retry(job, now, seconds(1))); // the time before is forgotten
    CHECK(table.drop(job));
    CHECK_FALSE(table.drop(job));
    CHECK_FALSE(table.retry(job, now, seconds(1000)));
}
