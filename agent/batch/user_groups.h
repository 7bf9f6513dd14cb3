// SPDX-License-Identifier: GPL-2.0-or-later
// What the system's user database says of a user, for the container that runs
// as that user. May block on a directory server: only from a worker thread.
#pragma once

#include "agent/batch/pod.h"
#include "common/base/result.h"

#include <cstdint>

namespace bridge {

// The names of both ids, and the user's groups but that one and root's. A group
// without a name has "". Code::busy: the database does not answer, or does not
// know the user, which may be the same.
Result<BatchUser> look_up_user(std::uint32_t user_id, std::uint32_t group_id);

} // namespace bridge
