// SPDX-License-Identifier: GPL-2.0-or-later
// Errors of system calls.
#pragma once

#include "common/base/result.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace bridge {

// Returns an error whose message is what was being done and the text of errno.
inline std::unexpected<Error> fail_errno(Code code, const std::string &doing,
                                         int error = errno)
{
    return fail(code, doing + ": " + std::strerror(error));
}

} // namespace bridge
