// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/memory_thread.h"

#include <doctest/doctest.h>

namespace bridge {
namespace {

constexpr std::size_t mib = 1UL << 20;

TEST_CASE("memory is given back at intervals, and sooner by a process that has "
          "grown")
{
    const MemoryPace::Time start{std::chrono::hours(1)};
    MemoryPace pace;

    CHECK(pace.is_due(10 * mib, start));
    pace.given_back(100 * mib, start);

    CHECK_FALSE(pace.is_due(100 * mib, start));
    CHECK_FALSE(pace.is_due(141 * mib, start));
    CHECK(pace.is_due(142 * mib, start));
    CHECK_FALSE(pace.is_due(50 * mib, start + std::chrono::seconds(14)));
    CHECK(pace.is_due(50 * mib, start + std::chrono::seconds(15)));
}

} // namespace
} // namespace bridge
