// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("the tag of a job is read as it was written")
{
    const GangTag rows[] = {
        {"default/web", "0b3c8e7a-1111", 0},
        {"ns/" + std::string(253, 'x'), "u", UINT32_MAX},
        {"", "u", 7},
        {"a\"b\\c/\xc3\xa9", "u", 1},
    };
    for (GangTag tag : rows) {
        CAPTURE(tag.gang);
        CHECK(decode_gang_tag(encode(tag)) == tag);
        tag.components = 8;
        CHECK(decode_gang_tag(encode(tag)) == tag);
        tag.claims = {"c", "models.v2"};
        CHECK(decode_gang_tag(encode(tag)) == tag);
    }
}

TEST_CASE("a tag is small")
{
    std::string text =
        encode({"default/web-0", "0b3c8e7a-5a5b-4b8e-9d6c-2f1f1f1f1f1f", 12});

    CHECK(text.size() < 120);
}

TEST_CASE("an admin_comment that somebody else wrote is no tag")
{
    const std::string rows[] = {
        "",
        "moved to the new rack",
        "null",
        "{",
        "{}",
        "[]",
        "7",
        R"({"gang":"a/b","uid":"u","generation":0})",
        R"({"slurmk8s":2,"gang":"a/b","uid":"u","generation":0})",
        R"({"slurmk8s":"1","gang":"a/b","uid":"u","generation":0})",
        R"({"slurmk8s":1,"gang":"a/b","generation":0})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"","generation":0})",
        R"({"slurmk8s":1,"gang":"a/b","uid":7,"generation":0})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"u"})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"u","generation":-1})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"u","generation":4294967296})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"u","generation":"0"})",
        R"({"slurmk8s":1,"uid":"u","generation":0,"components":-1})",
        R"({"slurmk8s":1,"uid":"u","generation":0,"components":4294967296})",
        R"({"slurmk8s":1,"gang":"a/b","uid":"u","generation":0} )"
        "x",
        "{" + std::string(1000000, '['),
        "{\"slurmk8s\":1,\"uid\":\"\xff\",\"generation\":0}",
    };
    for (const std::string &row : rows) {
        CAPTURE(row.substr(0, 80));
        CHECK_FALSE(decode_gang_tag(row));
    }
}

TEST_CASE("only a positive end is an end")
{
    for (JobState state :
         {JobState::pending, JobState::configuring, JobState::running,
          JobState::suspended, JobState::unknown})
        CHECK_FALSE(is_ended(state));
    for (JobState state :
         {JobState::completed, JobState::cancelled, JobState::failed,
          JobState::timeout, JobState::node_fail, JobState::preempted,
          JobState::boot_fail, JobState::deadline, JobState::out_of_memory})
        CHECK(is_ended(state));
}

TEST_CASE("a job holds resources while it is configuring, running or suspended")
{
    CHECK(is_allocated(JobState::configuring));
    CHECK(is_allocated(JobState::running));
    CHECK(is_allocated(JobState::suspended));
    CHECK_FALSE(is_allocated(JobState::pending));
    CHECK_FALSE(is_allocated(JobState::unknown));
    CHECK_FALSE(is_allocated(JobState::completed));
}

TEST_CASE("states have the names that squeue prints")
{
    CHECK(std::string(state_name(JobState::pending)) == "PENDING");
    CHECK(std::string(state_name(JobState::out_of_memory)) == "OUT_OF_MEMORY");
    CHECK(std::string(state_name(JobState::unknown)) == "UNKNOWN");
    CHECK(std::string(state_name(static_cast<JobState>(99))) == "UNKNOWN");
}
