// SPDX-License-Identifier: GPL-2.0-or-later
// The address of a UNIX socket in the file system.
#pragma once

#include "common/base/result.h"

#include <string>
#include <sys/un.h>

namespace bridge {

// Code::rejected if the path is empty or too long for a socket.
Result<sockaddr_un> unix_address(const std::string &path);

} // namespace bridge
