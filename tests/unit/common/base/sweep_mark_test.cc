// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/sweep_mark.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE(
    "a table of which nothing can be dropped is swept when it has doubled")
{
    SweepMark mark(64);
    int sweeps = 0;
    for (std::size_t size = 0; size < 100000; size++)
        if (mark.is_due(size)) {
            mark.swept(size);
            sweeps++;
        }

    CHECK(sweeps == 11); // at 64, 128 … 65536
}

TEST_CASE("after a sweep that has left little the next is at the least size")
{
    SweepMark mark(64);
    mark.swept(1000);
    CHECK_FALSE(mark.is_due(1999));
    CHECK(mark.is_due(2000));

    mark.swept(3);

    CHECK_FALSE(mark.is_due(63));
    CHECK(mark.is_due(64));
}
