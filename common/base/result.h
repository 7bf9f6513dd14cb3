// SPDX-License-Identifier: GPL-2.0-or-later
// What every call that can fail returns: a value, or an Error whose Code names
// the caller's next step. Nothing here throws.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <utility>

namespace bridge {

enum class Code {
    not_found, // the object is not there
    conflict,  // it changed meanwhile: read it again
    gone,      // this version is too old: list again
    busy,      // nobody answers, or too many ask: back off and try again
    uncertain, // it may or may not have happened: look before trying again
    rejected,  // it will never work as it stands: tell the user
    denied,    // we lack the right: tell the administrator
    internal,  // our own mistake, or an answer nobody expected
};

struct Error {
    Code code = Code::internal;
    std::string message;
    std::chrono::seconds retry_after{0}; // not before then; 0: nobody said so
};

template <class T = void> using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message)
{
    return std::unexpected(Error{code, std::move(message), {}});
}

// Passes an error on with what was being done put in front of it.
inline std::unexpected<Error> fail(const Error &error, const std::string &doing)
{
    return std::unexpected(
        Error{error.code, doing + ": " + error.message, error.retry_after});
}

// The name of a Code in logs and metrics, such as "not_found".
const char *code_name(Code code);

} // namespace bridge
