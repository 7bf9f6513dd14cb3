// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/script_dir.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("scripts leave slurmctld's state a tenth of bytes and inodes")
{
    constexpr std::uint64_t gib = 1ull << 30;
    struct Row {
        FileSystemRoom room;
        bool enough;
    };
    const Row rows[] = {
        {{5 * gib, gib / 2, 1000, 100}, true},
        {{5 * gib, gib / 2 - 1, 1000, 100}, false}, // bytes
        {{5 * gib, gib / 2, 1000, 99}, false},      // inodes
        {{5 * gib, gib / 2, 1000, 0}, false},
        {{900 * gib, gib, 1000, 900}, true}, // no more than 1 GiB
        {{900 * gib, gib - 1, 1000, 900}, false},
        {{900 * gib, 500 * gib, 0, 0}, true}, // no inodes of a fixed number
        {{0, 0, 0, 0}, true},
    };
    for (const Row &row : rows) {
        CAPTURE(row.room.free_bytes);
        CAPTURE(row.room.free_files);
        CHECK(leaves_room(row.room) == row.enough);
    }
}
