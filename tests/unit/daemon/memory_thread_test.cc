// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/memory_thread.h"

#include <doctest/doctest.h>

namespace bridge {
namespace {

constexpr std::size_t mib = 1UL << 20;

TEST_CASE("memory is given back each minute, and by a process that has grown")
{
    const MemoryPace::Time start{std::chrono::hours(1)};
    MemoryPace pace;

    CHECK(pace.is_due(10 * mib, start));
    pace.given_back(100 * mib, start);

    CHECK_FALSE(pace.is_due(100 * mib, start));
    CHECK_FALSE(pace.is_due(108 * mib, start));
    CHECK(pace.is_due(109 * mib, start));
    CHECK_FALSE(pace.is_due(50 * mib, start + std::chrono::seconds(59)));
    CHECK(pace.is_due(50 * mib, start + std::chrono::minutes(1)));
}

TEST_CASE("what was in use for a moment is looked for again")
{
    const MemoryPace::Time start{std::chrono::hours(1)};
    MemoryPace pace;
    pace.given_back(100 * mib, start);

    pace.given_back(150 * mib, start + std::chrono::seconds(5));

    CHECK(pace.is_due(150 * mib, start + std::chrono::seconds(10)));
    pace.given_back(150 * mib, start + std::chrono::minutes(1));
    CHECK_FALSE(pace.is_due(150 * mib, start + std::chrono::seconds(65)));
}

} // namespace
} // namespace bridge
