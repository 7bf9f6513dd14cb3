// SPDX-License-Identifier: GPL-2.0-or-later
// getpwnam_r(3) and its kin, with room for what they find: the record of a
// group has the names of all its members. May block on a directory server.
#pragma once

#include <cerrno>
#include <cstddef>
#include <vector>

namespace bridge {

// ask(char *room, std::size_t size): calls one of them. What it answers: 0,
// also when there is no such record, or an error number. Its record points into
// room.
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

// None of these: the database does not answer (getpwnam(3) lists what systems
// say where there is no such record).
inline bool is_no_such_record(int error)
{
    return error == 0 || error == ENOENT || error == ESRCH;
}

} // namespace bridge
