// SPDX-License-Identifier: GPL-2.0-or-later
// The address of a Unix socket that has a path.
#pragma once

#include "common/base/result.h"

#include <string>
#include <sys/un.h>

namespace bridge {

// Code::rejected for a path that is empty, or too long for one.
Result<sockaddr_un> unix_address(const std::string &path);

} // namespace bridge
