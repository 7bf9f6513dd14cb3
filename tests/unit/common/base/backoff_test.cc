// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/backoff.h"

#include <doctest/doctest.h>
#include <thread>

using namespace bridge;
using namespace std::chrono_literals;

TEST_CASE("delays double up to the longest, with jitter, and start again")
{
    std::minstd_rand random(1);
    Backoff backoff(800ms, 30s);
    auto least = 800ms;
    for (int i = 0; i < 20; i++) {
        auto delay = backoff.next(random);
        CHECK(delay >= least);
        CHECK(delay <= std::min<std::chrono::milliseconds>(least * 2, 30s));
        least = std::min<std::chrono::milliseconds>(least * 2, 30s);
    }
    backoff.reset();
    CHECK(backoff.next(random) <= 1600ms);
}

TEST_CASE("a delay doubles with each failure, up to the longest")
{
    CHECK(doubled(2s, 60s) == 4s);
    CHECK(doubled(40s, 60s) == 60s);
    CHECK(doubled(90s, 60s) == 60s);
    CHECK(doubled(1s, 60s, 0) == 1s);
    CHECK(doubled(1s, 60s, 5) == 32s);
    CHECK(doubled(1s, 60s, 6) == 60s);
    CHECK(doubled(1ns, std::chrono::nanoseconds(1h), 4'000'000'000) == 1h);
    CHECK(doubled(0s, 60s, 4'000'000'000) == 0s);
}

TEST_CASE("a stop ends the wait")
{
    std::stop_source stop;
    auto begun = std::chrono::steady_clock::now();
    std::jthread stopper([&] { stop.request_stop(); });

    wait_for(30s, stop.get_token());

    CHECK(std::chrono::steady_clock::now() - begun < 5s);
}
