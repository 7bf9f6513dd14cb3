// SPDX-License-Identifier: GPL-2.0-or-later
// What the system's user database says about a user, for the container that
// runs as that user. May block on a directory server, so it is called only from
// worker threads.
#pragma once

#include "agent/batch/pod.h"
#include "common/base/result.h"

#include <cstdint>

namespace bridge {

// Returns the names of both ids, and the user's supplementary groups without
// group_id and root's group. The name of an unknown group is "". Code::busy
// when the database does not answer or does not know the user; these two cases
// cannot be told apart.
Result<BatchUser> look_up_user(std::uint32_t user_id, std::uint32_t group_id);

} // namespace bridge
