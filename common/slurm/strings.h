// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers for libslurm's conventions: C strings that may be null, char * for
// strings that it only reads, and a free function for each kind of message. For
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

// Returns "" for null.
inline std::string text(const char *s)
{
    return s ? s : "";
}

// For functions of libslurm that take char * but only read the string; s must
// outlive the call.
inline char *borrow(const std::string &s)
{
    return const_cast<char *>(s.c_str());
}

// Returns null for an empty string, which leaves the field unset: "" would
// clear it.
inline char *borrow_if_any(const std::string &s)
{
    return s.empty() ? nullptr : borrow(s);
}

inline std::chrono::sys_seconds time_of(std::time_t time)
{
    return std::chrono::sys_seconds(std::chrono::seconds(time));
}

// Returns the names in a hostlist, such as "n[1-3],m".
std::vector<std::string> expand(const char *hostlist);

} // namespace bridge
