// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/rests.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const Clock::time_point start{seconds(1000)};
const Failures refused{{"create Pod w-0", "no room"}};

// How long an object rests that has just failed.
milliseconds rest_of(const Rests &rests, const Meta &about,
                     Clock::time_point now)
{
    CHECK(rests.holds(about, now));
    auto end = rests.next_end(now);
    REQUIRE(end);
    CHECK_FALSE(rests.holds(about, *end));
    return std::chrono::duration_cast<milliseconds>(*end - now);
}

} // namespace

TEST_CASE("an object that fails rests longer each time, up to a minute")
{
    Rests rests;
    Meta about = node_set(1).meta;
    CHECK_FALSE(rests.holds(about, start));
    auto now = start;
    milliseconds least = seconds(1);
    for (int i = 0; i < 12; i++) {
        rests.failed(about, refused, now);
        auto rest = rest_of(rests, about, now);
        CHECK(rest >= least);
        CHECK(rest <= std::min<milliseconds>(2 * least, seconds(60)));
        now += rest;
        least = std::min<milliseconds>(2 * least, seconds(60));
    }
    CHECK(rests.failures(about.uid) == refused);
    rests.succeeded(about.uid);
    CHECK(rests.failures(about.uid).empty());
    rests.failed(about, refused, now);
    CHECK(rest_of(rests, about, now) <= seconds(2));
}

TEST_CASE("a new generation is tried at once, and then from the beginning")
{
    Rests rests;
    Meta about = node_set(1).meta;
    for (int i = 0; i < 5; i++)
        rests.failed(about, refused, start);
    about.generation++;
    CHECK_FALSE(rests.holds(about, start));
    CHECK(rests.failures(about.uid) == refused);
    rests.failed(about, refused, start);
    CHECK(rest_of(rests, about, start) <= seconds(2));
}

TEST_CASE("an object that fails lets others alone, and is forgotten when gone")
{
    Rests rests;
    Meta about = node_set(1).meta;
    Meta other = node_set(1, {}, "other").meta;
    rests.failed(about, refused, start);
    CHECK_FALSE(rests.holds(other, start));
    rests.failed(other, refused, start);
    rests.keep([&](const std::string &uid) { return uid == other.uid; });
    CHECK(rests.size() == 1);
    CHECK(rests.failures(about.uid).empty());
}
