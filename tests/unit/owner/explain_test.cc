// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/explain.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Story story_of(Pod pod)
{
    Story story;
    story.gang = make_gang(std::move(pod));
    story.next = "wait";
    return story;
}

Story story_with(Pod pod, JobState state)
{
    Story story = story_of(std::move(pod));
    story.gang.job = make_job(812, state);
    return story;
}

Json told(const Story &story, const std::optional<JobDetails> &job = {})
{
    auto json = Json::parse(explain(story, job).dump());
    REQUIRE(json.has_value());
    return *json;
}

JobDetails details_of(const Job &job)
{
    JobDetails details;
    details.job = job;
    details.user = "alice";
    details.account = "physics";
    details.partition = "kwok";
    details.qos = "normal";
    details.requested = "cpu=2,mem=64M,node=1";
    details.features = "k8s";
    details.time_limit = 60;
    return details;
}

} // namespace

TEST_CASE("a Pod in the queue: Slurm's word, what it means, when, and a remedy")
{
    Story story = story_with(make_pod("web"), JobState::pending);
    story.gang.job->reason = "Priority";
    JobDetails details = details_of(*story.gang.job);
    details.job.reason = "Resources"; // by now
    details.job.expected_start =
        std::chrono::sys_seconds(std::chrono::seconds(1795269900));

    Json json = told(story, details);

    CHECK(json.text("summary") ==
          "Pod default/web waits: Slurm job 812 is PENDING, Resources.");
    CHECK(json.text("job/reason") == "Resources");
    CHECK(json.text("job/reasonMeaning").contains("head of the queue"));
    CHECK(json.text("job/expectedStart") == "2026-11-21T14:05:00Z");
    CHECK(json.text("job/user") == "alice");
    CHECK(json.text("job/asked") == "cpu=2,mem=64M,node=1");
    CHECK(json.integer("job/timeLimitMinutes") == 60);
    CHECK(json.text("agent/now") == "It waits for Slurm to allocate the job.");
    CHECK(json.text("remedy").starts_with("Wait"));
}

TEST_CASE("a held job names the command that lets it go")
{
    Story story = story_with(make_pod("web"), JobState::pending);
    story.gang.job->reason = "JobHeldUser";

    CHECK(told(story).text("remedy") == "scontrol release 812.");
}

TEST_CASE("what Slurm says of another SLUID is not told of this job")
{
    Story story = story_with(make_pod("web"), JobState::running);
    JobDetails other = details_of(make_job(812, JobState::pending));
    other.job.ref.sluid = Sluid{99};

    Json json = told(story, other);

    CHECK(json.text("job/state") == "RUNNING");
    CHECK_FALSE(json.at("job/user").present());
}

TEST_CASE("without Slurm's answer the story is what was heard last")
{
    Story story = story_with(make_pod("web"), JobState::pending);
    story.gang.job->reason = "Priority";

    CHECK(told(story).text("summary").contains("PENDING, Priority"));
}

TEST_CASE("containers in the way are named with their job and node")
{
    Story story = story_with(make_pod("web"), JobState::configuring);
    story.next = "bind";
    story.blockers = {{"kn1", "default/old", 12}};

    Json json = told(story);

    CHECK(json.text("agent/now") == "It waits for the containers of job 12 "
                                    "(default/old) on node kn1 to stop.");
    CHECK(json.text("summary").contains("kn1"));
    CHECK(json.integer("agent/blockers/0/jobId") == 12);
    CHECK(json.text("remedy").contains("grace period"));

    story.blockers = {{"kn1", "default/old", 0}};
    CHECK(told(story).text("agent/now").contains("Slurm has lost"));
}

TEST_CASE("a failure that is tried again says what, when and why")
{
    Story story = story_with(make_pod("web"), JobState::configuring);
    story.next = "bind";
    story.held_for = std::chrono::seconds(4);
    story.failures = 3;
    story.last_failure = "bind Pod=default/web: HTTP 503";

    Json json = told(story);

    CHECK(json.text("agent/now") ==
          "It waits 4 s, then tries again to bind the Pod to its node.");
    CHECK(json.integer("agent/failures") == 3);
    CHECK(json.text("agent/lastFailure").contains("503"));
}

TEST_CASE("what the agent does at this moment comes before what it waits for")
{
    Story story = story_with(make_pod("web"), JobState::configuring);
    story.doing = "bind";
    story.held_for = std::chrono::seconds(4);
    CHECK(told(story).text("agent/now") ==
          "At this moment: bind the Pod to its node.");

    story.serving = false;
    CHECK(told(story).text("agent/now").contains("does nothing before"));
}

TEST_CASE("Pods without a job say why")
{
    Pod gated = make_pod("web");
    gated.gated = true;
    CHECK(told(story_of(gated)).text("summary").contains("scheduling gates"));
    CHECK(told(story_of(gated)).text("remedy").contains("scheduling gates"));

    Story refused = story_of(make_pod("web"));
    refused.next = "refuse";
    refused.said = "No Slurm job could be submitted: no user.";
    CHECK(told(refused).text("summary").contains("no user"));
    CHECK_FALSE(told(refused).text("remedy").empty());

    Pod foreign = make_pod("web");
    foreign.node_name = "kn1";
    foreign.phase = "Running";
    CHECK(
        told(story_of(foreign)).text("summary").contains("it gets a new one"));

    Pod ended = foreign;
    ended.phase = "Failed";
    CHECK(told(story_of(ended)).text("summary").contains("has ended: Failed"));

    Story new_one = story_of(make_pod("web"));
    new_one.next = "submit";
    CHECK(told(new_one).text("agent/now") ==
          "It is about to ask Slurm for a job.");

    Story gone = new_one;
    gone.gang.pods.clear();
    CHECK(told(gone).text("summary").contains("neither a Pod nor a job"));
}

TEST_CASE("a Pod in line says what it waits for, and that nothing is wrong")
{
    Story story = story_of(make_pod("web"));
    story.next = "submit";
    story.said = "A job will be submitted when fewer Pods wait in Slurm.";
    story.in_line = true;
    CHECK(told(story).text("summary").contains("fewer Pods wait in Slurm"));
    CHECK(told(story).text("agent/now").contains("turn"));
    CHECK(told(story).text("remedy").starts_with("Wait for its turn"));
}

TEST_CASE("each state of a job has its sentence, with a Pod and without")
{
    for (JobState state :
         {JobState::pending, JobState::configuring, JobState::running,
          JobState::suspended, JobState::completed, JobState::cancelled,
          JobState::node_fail, JobState::unknown}) {
        CAPTURE(state_name(state));
        Story story = story_with(make_pod("web"), state);
        CHECK(told(story).text("summary").contains("812"));
        CHECK_FALSE(told(story).text("agent/now").empty());

        Pod bound = make_pod("web");
        bound.node_name = "kn1";
        bound.phase = "Running";
        CHECK_FALSE(told(story_with(bound, state)).text("summary").empty());

        story.gang.pods.clear();
        CHECK(told(story).text("summary").contains("812"));
        CHECK(told(story).items("pods").empty());
    }
}

TEST_CASE("a Pod is told with what it asks for and who owns it")
{
    Pod pod = make_pod("web", MilliCpu{1500});
    pod.requests.others["example.com/gpu"] = 2;
    pod.owner = {"batch/v1", "Job", "train", "uid-train"};

    Json json = told(story_of(pod));

    CHECK(json.integer("pods/0/asks/cpuMilli") == 1500);
    CHECK(json.at("pods/0/asks").member("example.com/gpu").integer() == 2);
    CHECK(json.text("pods/0/owner") == "Job train");
}

TEST_CASE("a job that the agent is done with is told from Slurm's record")
{
    JobDetails details = details_of(make_job(812, JobState::completed));
    details.ended = std::chrono::sys_seconds(std::chrono::seconds(1795269900));

    auto json = Json::parse(explain_past(details).dump());

    CHECK(json->text("summary").contains("default/web"));
    CHECK(json->text("summary").contains("COMPLETED"));
    CHECK(json->text("job/ended") == "2026-11-21T14:05:00Z");
}

TEST_CASE("the containers of a cancelled job: since when, until when, and what "
          "comes then")
{
    Pod pod = make_pod("web");
    pod.node_name = "kn1";
    pod.phase = "Running";
    Story story = story_with(pod, JobState::cancelled);
    CHECK(told(story).text("agent/now") ==
          "It waits for the containers to stop.");

    story.ending =
        Ending{std::chrono::sys_seconds(std::chrono::seconds(1795269900)),
               std::chrono::seconds(90)};

    CHECK(told(story).text("agent/now") ==
          "It has waited since 2026-11-21T14:05:00Z for the containers to "
          "stop. They are killed 90 s after that, at 2026-11-21T14:06:30Z, if "
          "they have not stopped before. When they are gone, Slurm job 812 "
          "leaves COMPLETING, and other jobs get what they use.");
}

TEST_CASE("the remedy is a command where there is one")
{
    Story nobody = story_of(make_pod("web"));
    nobody.next = "submit";
    nobody.said = "No Slurm job could be submitted: no user (kubectl annotate "
                  "namespace default slurmk8s/user=USER).";
    CHECK(told(nobody).text("remedy") ==
          "An administrator: kubectl annotate namespace default "
          "slurmk8s/user=USER, or DefaultUser=USER in k8s.conf.");

    Story large = story_of(make_pod("web"));
    large.said = "No node is large enough for the Pod: it asks for cpu=40, …";
    CHECK(told(large).text("remedy").starts_with("Delete the Pod and create"));
}
