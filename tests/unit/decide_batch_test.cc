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
    CHECK_FALSE(table.retry(job, now, seconds(1)));
    CHECK(table.drop(job));
    CHECK_FALSE(table.drop(job));
    CHECK_FALSE(table.retry(job, now, seconds(1000)));
}
