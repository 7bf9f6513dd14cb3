// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/selection_pace.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const SelectionPace::Time start{std::chrono::hours(1)};

} // namespace

TEST_CASE("a few new selections are for now, and then one each some seconds")
{
    SelectionPace pace;
    SelectionPace::Time now = start;
    for (unsigned i = 0; i < SelectionPace::at_once; i++) {
        CHECK(pace.next("a", now) == now);
        now += milliseconds(100);
    }
    const SelectionPace::Time seventh = start + SelectionPace::interval;
    CHECK(pace.next("a", now) == seventh);
    CHECK(pace.next("a", now + seconds(1)) == seventh); // they go together
    CHECK(pace.next("a", seventh) == seventh);
    CHECK(pace.next("a", seventh + milliseconds(1)) ==
          seventh + SelectionPace::interval);

    CHECK(pace.next("b", now) == now); // as ever
}

TEST_CASE("those of one moment are one")
{
    SelectionPace pace;
    for (int i = 0; i < 100; i++)
        CHECK(pace.next("a", start) == start);
    CHECK(pace.next("a", start + milliseconds(1)) == start + milliseconds(1));
}

TEST_CASE("a namespace that was quiet for long has a few at once again")
{
    SelectionPace pace;
    for (int i = 0; i < 30; i++)
        (void)pace.next("a", start + milliseconds(i));
    const SelectionPace::Time later =
        start + 2 * SelectionPace::at_once * SelectionPace::interval;
    for (int i = 0; i < 100; i++) // and others do not make it forget
        (void)pace.next("n" + std::to_string(i), later);
    for (unsigned i = 0; i < SelectionPace::at_once; i++)
        CHECK(pace.next("a", later + milliseconds(i)) ==
              later + milliseconds(i));
    CHECK(pace.next("a", later + seconds(1)) > later + seconds(1));
}
