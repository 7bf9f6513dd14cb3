// SPDX-License-Identifier: GPL-2.0-or-later
// What a system call says that fails.
#pragma once

#include "common/base/result.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace bridge {

// The words of that errno, behind what was being done.
inline std::unexpected<Error> fail_errno(Code code, const std::string &doing,
                                         int error = errno)
{
    return fail(code, doing + ": " + std::strerror(error));
}

} // namespace bridge
