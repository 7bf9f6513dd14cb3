// SPDX-License-Identifier: GPL-2.0-or-later
// Identifies the user at the other end of a UNIX socket.
#pragma once

#include "common/base/result.h"

#include <sys/types.h>

namespace bridge {

// Returns the user of the process that connected or listened, as the kernel
// reports it (SO_PEERCRED). Code::internal if the kernel reports none, as for
// TCP.
Result<uid_t> peer_user(int fd);

} // namespace bridge
