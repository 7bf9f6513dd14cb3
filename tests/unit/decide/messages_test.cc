// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/messages.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a grace period that is not allowed is told with the limit")
{
    Pod pod = make_pod("web");
    pod.grace_period = std::chrono::seconds(600);
    pod.probe_grace = std::chrono::seconds(600);

    std::string words = long_grace_message(pod, std::chrono::seconds(45));
    CHECK(words.starts_with("its terminationGracePeriodSeconds is 600, and 45 "
                            "is the most"));
    CHECK(words.contains("MaxGracePeriod"));
    pod.probe_grace = std::chrono::seconds(3600);
    CHECK(long_grace_message(pod, std::chrono::seconds(45))
              .starts_with("its terminationGracePeriodSeconds of a probe is "
                           "3600"));
}

TEST_CASE("a Pod is Unschedulable only while more nodes would help")
{
    Gang gang = make_gang(make_pod("web"));
    CHECK(scheduled_reason(gang) == "NoSlurmJob");
    gang.placement.no_node = true;
    CHECK(scheduled_reason(gang) == "Unschedulable");

    gang.placement.no_node = false;
    gang.job = make_job(812, JobState::pending);
    CHECK(scheduled_reason(gang) == "None");
    gang.job->reason = "Dependency";
    CHECK(scheduled_reason(gang) == "Dependency");
    gang.job->reason = "Priority";
    CHECK(scheduled_reason(gang) == "Priority");
    gang.job->wants_nodes = true;
    CHECK(scheduled_reason(gang) == "Unschedulable");

    gang.job->state = JobState::configuring;
    CHECK(scheduled_reason(gang) == "Allocated");
    gang.job->state = JobState::cancelled;
    gang.job->wants_nodes = false;
    CHECK(scheduled_reason(gang) == "NoSlurmJob");
}

TEST_CASE("a waiting Pod says so in Slurm's own words")
{
    Job job = make_job(812, JobState::pending);
    job.reason = "Priority";

    CHECK(waiting_message(job) == "Slurm job 812 is waiting: Priority.");
}

TEST_CASE("a sentence is told from another by its job and its reason's class")
{
    Job job = make_job(812, JobState::pending);
    job.reason = "Priority";
    for (const char *sentence :
         {"Slurm job 812 is waiting: Resources.",
          "Slurm job 812 is waiting: Priority. Expected to start at "
          "2026-11-21T14:05:00Z."})
        CHECK(has_reason_class_of(sentence, job));
    for (const char *sentence :
         {"", "Slurm job 812 is waiting: JobHeldUser.",
          "Slurm job 81 is waiting: Priority.",
          "Slurm job 8120 is waiting: Priority.",
          "Slurm job 812 is waiting: ", "Slurm job 812 ended: CANCELLED."})
        CHECK_FALSE(has_reason_class_of(sentence, job));
}

TEST_CASE("an expected start is said in UTC, and not when Slurm has none")
{
    Job job = make_job(812, JobState::pending);
    CHECK(expected_start_message(job) == "");

    job.expected_start =
        std::chrono::sys_seconds(std::chrono::seconds(1795269900));
    CHECK(expected_start_message(job) ==
          "Expected to start at 2026-11-21T14:05:00Z.");

    job.expected_start = std::chrono::sys_seconds(std::chrono::seconds(-1));
    CHECK(expected_start_message(job) == "");
}

TEST_CASE("the end of a job and what it means for a Pod")
{
    CHECK(job_ended_message({812, Sluid{1}}, JobState::timeout) ==
          "Slurm job 812 ended: TIMEOUT.");
    CHECK(failed_pod_reason(JobState::cancelled) == "SlurmJobCancelled");
    CHECK(failed_pod_reason(JobState::deadline) == "SlurmJobDeadline");
    CHECK(failed_pod_reason(JobState::node_fail) == "SlurmJobEnded");
}

TEST_CASE("a binding is told in the scheduler's usual words")
{
    CHECK(bound_message(make_pod("web"), "node-1", {812, Sluid{1}}) ==
          "Successfully assigned default/web to node-1 by Slurm job 812.");
}

TEST_CASE("a refusal hands on what was said")
{
    CHECK(submit_refused_message("submit: Invalid account")
              .find("submit: Invalid account") != std::string::npos);
}
