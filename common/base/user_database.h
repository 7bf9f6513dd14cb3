// SPDX-License-Identifier: GPL-2.0-or-later
// Calls getpwnam_r(3) and similar functions with a buffer that grows as needed:
// the record of a group holds the names of all its members. May block on a
// directory server.
#pragma once

#include <cerrno>
#include <cstddef>
#include <vector>

namespace bridge {

// ask(char *room, std::size_t size) calls one of these functions and returns
// its result: 0 (also if there is no such record) or an error number. The
// record that it finds points into room. room grows up to 64 MiB.
template <typename Ask> int ask_user_database(std::vector<char> &room, Ask ask)
{
    constexpr std::size_t most = 64UL * 1024 * 1024;
    if (room.empty())
        room.resize(16UL * 1024);
    for (;;) {
        int error = ask(room.data(), room.size());
        if (error != ERANGE || room.size() >= most)
            return error;
        room.resize(2 * room.size());
    }
}

// Tells whether the database has answered that the record does not exist. Any
// other error means that the database does not answer. getpwnam(3) lists what
// systems return for a missing record.
inline bool is_no_such_record(int error)
{
    return error == 0 || error == ENOENT || error == ESRCH;
}

} // namespace bridge
