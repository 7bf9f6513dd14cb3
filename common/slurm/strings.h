// SPDX-License-Identifier: GPL-2.0-or-later
// Strings and messages as libslurm has them: C strings that may be null, char *
// for what it only reads, and a free function for each kind of message. For the
// files that include slurm.h.
#pragma once

#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

// SlurmPtr<job_info_msg_t, slurm_free_job_info_msg>
template <auto free_message> struct SlurmFree {
    template <class Message> void operator()(Message *message) const
    {
        free_message(message);
    }
};
template <class Message, auto free_message>
using SlurmPtr = std::unique_ptr<Message, SlurmFree<free_message>>;

// Empty for null.
inline std::string text(const char *s)
{
    return s ? s : "";
}

// libslurm takes char * for strings that it only reads; s must outlive the
// call.
inline char *borrow(const std::string &s)
{
    return const_cast<char *>(s.c_str());
}

// Null when empty, which leaves the field unset: "" would clear it.
inline char *borrow_if_any(const std::string &s)
{
    return s.empty() ? nullptr : borrow(s);
}

inline std::chrono::sys_seconds time_of(std::time_t time)
{
    return std::chrono::sys_seconds(std::chrono::seconds(time));
}

// The names of a hostlist, such as "n[1-3],m".
std::vector<std::string> expand(const char *hostlist);

} // namespace bridge
