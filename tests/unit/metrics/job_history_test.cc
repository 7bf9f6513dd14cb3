// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/job_history.h"
#include "tests/unit/metrics/counted.h"

#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <vector>

using namespace bridge;

namespace {

void list(JobHistory &history, std::initializer_list<CountedJob> jobs)
{
    history.begin_list();
    for (const CountedJob &job : jobs)
        history.see(job);
    history.end_list();
}

std::string text_of(const JobHistory &history)
{
    MetricText text(MetricFormat::prometheus);
    history.write(text);
    return std::move(text).finish();
}

std::string encoded(const JobHistory &history)
{
    auto kept = history.kept();
    REQUIRE(kept.has_value());
    return kept->encode();
}

std::string encoded_empty()
{
    JobHistory history;
    list(history, {});
    return encoded(history);
}

constexpr char ended[] =
    "slurm_jobs_ended_total{partition=\"main\",state=\"completed\"} ";
constexpr char waits[] =
    "slurm_job_wait_seconds_count{partition=\"main\",qos=\"normal\"} ";
constexpr char wait_sum[] =
    "slurm_job_wait_seconds_sum{partition=\"main\",qos=\"normal\"} ";
constexpr char runs[] =
    "slurm_job_run_seconds_sum{partition=\"main\",qos=\"normal\"} ";

void check_counts(const JobHistory &history, int jobs, int started, int seconds)
{
    std::string text = text_of(history);
    CAPTURE(text);
    CHECK(text.contains(ended + std::to_string(jobs) + "\n"));
    CHECK(text.contains(waits + std::to_string(started) + "\n"));
    CHECK(text.contains(runs + std::to_string(seconds) + "\n"));
}

} // namespace

TEST_CASE("a job's start and its end count once, however often it is listed")
{
    JobHistory history;
    list(history, {});
    list(history, {pending_job(1)});
    list(history, {running_job(1, 1060)});
    list(history, {running_job(1, 1060)});
    std::string text = text_of(history);
    CHECK(text.contains(
        "slurm_job_wait_seconds_bucket{partition=\"main\",qos=\"normal\","
        "le=\"10.0\"} 0\n"));
    CHECK(text.contains(
        "slurm_job_wait_seconds_bucket{partition=\"main\",qos=\"normal\","
        "le=\"60.0\"} 1\n"));
    list(history, {ended_job(1, 1060, 1100)});
    list(history, {ended_job(1, 1060, 1100)});
    list(history, {});
    check_counts(history, 1, 1, 40);
}

TEST_CASE("what had happened before the first list of all does not count")
{
    JobHistory history;
    list(history, {ended_job(1, 1001, 1100), running_job(2, 1001)});
    list(history, {ended_job(1, 1001, 1100), ended_job(2, 1001, 1200)});
    std::string text = text_of(history);
    CHECK(text.contains(std::string(ended) + "1\n"));
    CHECK(text.contains(std::string(runs) + "199\n"));
    CHECK(text.contains(std::string(waits) + "0\n"));
}

TEST_CASE("a job that starts and ends between two lists counts as both; one "
          "that never started has ended only")
{
    JobHistory history;
    list(history, {});
    list(history,
         {ended_job(1, 1010, 1020), ended_job(2, 1030, 1030, JOB_CANCELLED)});
    check_counts(history, 1, 1, 10);
    CHECK(text_of(history).contains(
        "slurm_jobs_ended_total{partition=\"main\",state=\"cancelled\"} 1\n"));
}

TEST_CASE("a job that ends in the second of its start has started")
{
    JobHistory history;
    list(history, {});
    CountedJob job = ended_job(1, 1030, 1030);
    job.had_nodes = true;
    list(history, {job});
    check_counts(history, 1, 1, 0);
}

TEST_CASE("a requeued job starts and ends again")
{
    JobHistory history;
    list(history, {});
    list(history, {ended_job(1, 1010, 1020)});
    list(history, {pending_job(1)});
    list(history, {ended_job(1, 1110, 1125)});
    check_counts(history, 2, 2, 25);
}

TEST_CASE("the next agent goes on, and counts what it had missed once")
{
    JobHistory first;
    list(first, {});
    list(first, {ended_job(1, 1010, 1020), running_job(2, 1010)});
    JobHistory second;
    REQUIRE(second.restore(encoded(first)));
    list(second, {ended_job(1, 1010, 1020), running_job(2, 1010)});
    check_counts(second, 1, 2, 10);
    list(second, {ended_job(1, 1010, 1020), ended_job(2, 1010, 1050),
                  ended_job(3, 1030, 1035)});
    check_counts(second, 3, 3, 55);
}

TEST_CASE(
    "nothing is shown, or kept, before the first list has ended: what was "
    "restored may be older than what was shown")
{
    JobHistory first;
    list(first, {});
    list(first, {ended_job(1, 1010, 1020)});
    std::string old = encoded(first);
    list(first, {ended_job(1, 1010, 1020), ended_job(2, 1010, 1030)});
    check_counts(first, 2, 2, 30);

    JobHistory second; // after a crash
    CHECK_FALSE(second.kept().has_value());
    REQUIRE(second.restore(old));
    CHECK(text_of(second).empty());
    CHECK_FALSE(second.kept().has_value());
    second.begin_list();
    second.see(ended_job(1, 1010, 1020));
    CHECK(text_of(second).empty());
    second.see(ended_job(2, 1010, 1030));
    second.end_list();
    check_counts(second, 2, 2, 30);
    CHECK(second.kept().has_value());
}

TEST_CASE("a job starts when its nodes are ready, and does not when it is "
          "allocated")
{
    for (std::uint64_t flag : {JOB_CONFIGURING, JOB_POWER_UP_NODE}) {
        JobHistory history;
        list(history, {});
        CountedJob boots = running_job(1, 1010);
        boots.state |= static_cast<std::uint32_t>(flag);
        list(history, {boots});
        CHECK_FALSE(text_of(history).contains(waits));
        list(history, {running_job(1, 1300)});
        list(history, {running_job(1, 1300)});
        std::string text = text_of(history);
        CAPTURE(text);
        CHECK(text.contains(std::string(waits) + "1\n"));
        CHECK(text.contains(std::string(wait_sum) + "300\n"));
    }
}

TEST_CASE("how long a job ran is without the time in which it was suspended")
{
    JobHistory history;
    list(history, {});
    CountedJob job = ended_job(1, 1010, 1100);
    job.ran = std::chrono::seconds(40);
    list(history, {job});
    check_counts(history, 1, 1, 40);
}

TEST_CASE("waiting tasks of an array that end together count each; shadow jobs "
          "do not count")
{
    JobHistory history;
    list(history, {});
    CountedJob array = ended_job(1, 1030, 1030, JOB_CANCELLED);
    array.tasks = 7;
    CountedJob shadow = ended_job(2, 1010, 1020);
    shadow.kind = JobKind::shadow;
    list(history, {array, shadow});
    std::string text = text_of(history);
    CAPTURE(text);
    CHECK(text.contains(
        "slurm_jobs_ended_total{partition=\"main\",state=\"cancelled\"} 7\n"));
    CHECK_FALSE(text.contains(ended));
    CHECK_FALSE(text.contains(waits));
}

TEST_CASE("jobs that have neither started nor ended are not kept")
{
    JobHistory history;
    list(history, {pending_job(1), running_job(2, 1010), pending_job(3),
                   ended_job(4, 1010, 1020)});
    std::string text = encoded(history);
    CAPTURE(text);
    CHECK(text.contains("[2,1010,0]"));
    CHECK(text.contains("[4,1010,1020]"));
    CHECK_FALSE(text.contains("[1,"));
    CHECK_FALSE(text.contains("[3,"));
    CHECK(text.ends_with("]]}"));
    CHECK(JobHistory().restore(text));
    CHECK(JobHistory().restore(encoded_empty()));
}

TEST_CASE("beyond a thousand partitions, and pairs of partition and QOS, all "
          "others are one")
{
    JobHistory history;
    list(history, {});
    history.begin_list();
    std::vector<std::string> names;
    for (int i = 0; i < 1010; i++)
        names.push_back("p" + std::to_string(i));
    for (JobId id = 1; id <= 1010; id++) {
        CountedJob job = ended_job(id, 1010, 1020);
        job.partition = names[id - 1];
        history.see(job);
    }
    history.end_list();
    std::string text = text_of(history);
    CHECK(text.contains("slurm_jobs_ended_total{partition=\"p999\",state="
                        "\"completed\"} 1\n"));
    CHECK(text.contains("slurm_jobs_ended_total{partition=\"other\",state="
                        "\"completed\"} 10\n"));
    CHECK(text.contains("slurm_job_run_seconds_count{partition=\"other\",qos="
                        "\"other\"} 10\n"));
}

TEST_CASE("what is no history changes nothing")
{
    JobHistory history;
    list(history, {});
    list(history, {ended_job(1, 1010, 1020)});
    for (const char *text : {"", "{", "{}", "[]", R"({"format":"another"})"}) {
        CAPTURE(text);
        CHECK_FALSE(history.restore(text));
    }
    check_counts(history, 1, 1, 10);
}
