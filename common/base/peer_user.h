// SPDX-License-Identifier: GPL-2.0-or-later
// Who is at the other end of a UNIX socket.
#pragma once

#include "common/base/result.h"

#include <sys/types.h>

namespace bridge {

// The user whom the kernel vouches for, of the process that connected or
// listened. Code::internal where it vouches for nobody: at TCP.
Result<uid_t> peer_user(int fd);

} // namespace bridge
