// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/submit_budget.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("one user may write so much within ten minutes, and others as much")
{
    SubmitBudget budget;
    SubmitBudget::Time now{};
    constexpr std::size_t half = SubmitBudget::bytes / 2;

    CHECK(budget.take(1001, half, now));
    CHECK(budget.take(1001, half, now));
    CHECK_FALSE(budget.take(1001, 1, now));
    CHECK(budget.take(1002, half, now));
    now += SubmitBudget::window - std::chrono::seconds(1);
    CHECK_FALSE(budget.take(1001, 1, now));
    now += std::chrono::seconds(1);
    CHECK(budget.take(1001, SubmitBudget::bytes, now));
    CHECK_FALSE(budget.take(1001, 1, now));
    CHECK_FALSE(budget.take(1003, SubmitBudget::bytes + 1, now));
}

TEST_CASE("small files count, too: each costs an inode and a block")
{
    SubmitBudget budget;
    SubmitBudget::Time now{};
    for (unsigned i = 0; i < SubmitBudget::files; i++)
        REQUIRE(budget.take(1001, 400, now));
    CHECK_FALSE(budget.take(1001, 400, now));
    CHECK(budget.take(1002, 400, now));
    CHECK(budget.take(1001, 400, now + SubmitBudget::window));

    constexpr std::size_t rest =
        SubmitBudget::bytes - 2 * SubmitBudget::block + 1;
    CHECK(budget.take(1003, rest, now));
    CHECK(budget.take(1003, 1, now));
    CHECK_FALSE(budget.take(1003, 1, now)); // less than a block is left
}
