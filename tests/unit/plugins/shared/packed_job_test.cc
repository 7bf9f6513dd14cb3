// SPDX-License-Identifier: GPL-2.0-or-later
// The files of tests/data/packed-jobs are records of the state file of a
// slurmctld of Slurm 26.05.3 (job_state), in hexadecimal.
#include "plugins/shared/packed_job.h"

#include "tests/unit/fakes/test_data.h"

#include <cctype>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

std::string packed(const std::string &name)
{
    std::string text = text_file("packed-jobs/" + name), bytes, byte;
    for (char digit : text) {
        if (std::isxdigit(static_cast<unsigned char>(digit)))
            byte += digit;
        if (byte.size() == 2) {
            bytes += static_cast<char>(std::stoi(byte, nullptr, 16));
            byte.clear();
        }
    }
    return bytes;
}

void check_read(const std::string &name, const JobFacts &wanted)
{
    CAPTURE(name);
    auto facts = facts_in_packed(packed(name));
    REQUIRE(facts);
    CHECK(facts->job == wanted.job);
    CHECK(facts->hostlist == wanted.hostlist);
    CHECK(facts->cpus == wanted.cpus);
    CHECK(facts->ours == wanted.ours);
    CHECK(facts->batch == wanted.batch);
}

JobRef job(JobId id, std::string_view sluid)
{
    return {id, Sluid::parse(sluid).value()};
}

} // namespace

TEST_CASE("a job's facts are read from its record as slurmctld packs it")
{
    check_read("pod", {.job = job(5, "s56HM8GP86KB00"),
                       .hostlist = "kn1",
                       .ours = true,
                       .cpus = 3});
    check_read("batch-two-nodes", {.job = job(6, "s56HM8GP86RM00"),
                                   .hostlist = "kn[1-2]",
                                   .ours = true,
                                   .batch = true});
    check_read("batch-starts", {.job = job(12, "s56HM8GP8G8A00"),
                                .hostlist = "kn1",
                                .ours = true,
                                .batch = true,
                                .cpus = 1});
    check_read("ordinary", {.job = job(7, "s56HM8GP87RQ00"),
                            .hostlist = "native1",
                            .cpus = 1}); // its comment looks like our mark
}

TEST_CASE("a packed job that has no nodes yet, or has ended, is read, too")
{
    check_read("array-waits",
               {.job = job(8, "s56HM8GP87T600"), .hostlist = ""});
    check_read("batch-held", {.job = job(9, "s56HM8GP87VB00"),
                              .hostlist = "",
                              .ours = true,
                              .batch = true});
    check_read("pod-ends", {.job = job(5, "s56HM8GP86KB00"),
                            .hostlist = "kn1",
                            .ours = true,
                            .cpus = 3});
    check_read(
        "ordinary-ended",
        {.job = job(7, "s56HM8GP87RQ00"), .hostlist = "native1", .cpus = 1});
}

TEST_CASE("what follows a packed job is not looked at")
{
    std::string whole = packed("pod") + std::string(5000, 'x');

    CHECK(facts_in_packed(whole).value().job.id == 5);
}

TEST_CASE("no part of a packed job is taken for one")
{
    std::string whole = packed("pod");
    std::size_t read = whole.find("K8S_GANG"); // of the last text that is read
    REQUIRE(read != whole.npos);
    for (std::size_t size = 0; size <= read; size++) {
        CAPTURE(size);
        CHECK_FALSE(facts_in_packed(whole.substr(0, size)));
    }
}

TEST_CASE("rubbish is no packed job")
{
    CHECK_FALSE(facts_in_packed(""));
    CHECK_FALSE(facts_in_packed(std::string(8192, '\0')));
    CHECK_FALSE(facts_in_packed(std::string(8192, '\xff')));
}
