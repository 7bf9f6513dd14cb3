// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace bridge;

TEST_CASE("what follows from an answer waits for the owner thread")
{
    OwnerBed bed;
    int answer = 0;

    bed.errands.ask([](Slurm &) { return Result<int>(7); },
                    [&](const Result<int> &said) { answer = said.value(); });
    REQUIRE(bed.workers.size() == 1);
    (*bed.workers.pop())(bed.kube);
    CHECK(answer == 0);

    bed.settle();
    CHECK(answer == 7);
}

TEST_CASE("a question may concern Slurm, Kubernetes or both")
{
    OwnerBed bed;
    int answers = 0;
    auto count = [&](const Result<> &said) { answers += said.has_value(); };

    bed.errands.ask([](Slurm &) { return Result<>{}; }, count);
    bed.errands.ask([](Kube &) { return Result<>{}; }, count);
    bed.errands.ask([](Slurm &, Kube &) { return Result<>{}; }, count);
    bed.settle();

    CHECK(answers == 3);
}

// Whoever asked waits for it: a patch under way, for one.
TEST_CASE("an exception in a question is an answer")
{
    OwnerBed bed;
    Code code = Code::internal;
    auto question = [](Kube &) -> Result<> {
        throw std::runtime_error("out of memory");
    };
    auto note = [&](const Result<> &said) { code = said.error().code; };

    SUBCASE("of a worker")
    {
        bed.errands.ask(question, note);
    }
    SUBCASE("of a reporter")
    {
        bed.errands.report(question, note);
    }
    bed.settle();

    CHECK(code == Code::busy);
}

TEST_CASE("an exception in a list is a list that failed")
{
    OwnerBed bed;

    bed.errands.load<JobsLoaded>([](Slurm &) -> Result<std::vector<Job>> {
        throw std::runtime_error("out of memory");
    });
    (*bed.workers.pop())(bed.kube);

    auto message = bed.mailbox.pop();
    REQUIRE(std::holds_alternative<JobsLoaded>(*message));
    CHECK(std::get<JobsLoaded>(*message).jobs.error().code == Code::busy);
}

TEST_CASE("messages of a full lane do not stand before those of none")
{
    OwnerBed bed;
    int asked = 0;
    for (int i = 0; i < 1000; i++)
        bed.errands.tell_in(
            "crowd",
            [&](Kube &) {
                asked++;
                return Result<std::vector<Job>>{};
            },
            [](Result<std::vector<Job>> jobs) {
                return JobsLoaded{std::move(jobs)};
            });
    bed.errands.load<StatesLoaded>(
        [](Slurm &) { return Result<std::vector<JobStateHint>>{}; });

    for (int i = 0; i < 2; i++)
        (*bed.workers.pop())(bed.kube);

    CHECK(asked == 1);
    CHECK(bed.mailbox.size() == 2);
}
