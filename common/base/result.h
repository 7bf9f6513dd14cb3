// SPDX-License-Identifier: GPL-2.0-or-later
// The return type of every call that can fail: a value, or an Error whose Code
// tells the caller what to do next. Nothing here throws.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <utility>

namespace bridge {

enum class Code {
    not_found, // the object does not exist
    conflict,  // the object has changed: read it again
    gone,      // what was named is not there any more: look again
    busy,      // no answer, or too many requests: back off and try again
    uncertain, // it may have happened or not: look before trying again
    rejected,  // it can never work like this: tell the user
    denied,    // a right is missing: tell the administrator
    newer,     // a later release wrote it: tell the administrator to upgrade
    internal,  // a bug of ours, or an unexpected answer
};

struct Error {
    Code code = Code::internal;
    std::string message;
    std::chrono::seconds retry_after{0}; // earliest retry; 0: not specified
};

template <class T = void> using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message)
{
    return std::unexpected(Error{code, std::move(message), {}});
}

// Passes an error on; the message begins with what was being done.
inline std::unexpected<Error> fail(const Error &error, const std::string &doing)
{
    return std::unexpected(
        Error{error.code, doing + ": " + error.message, error.retry_after});
}

// Returns the name of a Code for logs and metrics, such as "not_found".
const char *code_name(Code code);

} // namespace bridge
