// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/drain_retries.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("a node that cannot be drained is tried less and less often")
{
    DrainRetries retries(1s);
    DrainRetries::Clock::time_point now{};
    CHECK(retries.due("n1", now));

    for (auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
        CAPTURE(wait.count());
        retries.failed("n1", now);
        CHECK_FALSE(retries.due("n1", now + wait - 1ms));
        CHECK(retries.due("n2", now));
        now += wait;
        CHECK(retries.due("n1", now));
    }
}

TEST_CASE("a node that was drained, or is waited for no more, begins anew")
{
    DrainRetries retries(1s);
    DrainRetries::Clock::time_point now{};
    for (int i = 0; i < 2; i++) {
        retries.failed("n1", now);
        retries.failed("n2", now);
    }

    retries.forget("n1");

    CHECK(retries.due("n1", now));
    CHECK_FALSE(retries.due("n2", now + 1s));
    retries.forget_all();
    CHECK(retries.due("n2", now));
}
