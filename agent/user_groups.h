// SPDX-License-Identifier: GPL-2.0-or-later
// What the system's user database says of a user, for the container that runs as
// that user. May block on a directory server: only from a worker thread.
#pragma once

#include "agent/batch_pod.h"
#include "common/result.h"

#include <cstdint>

namespace bridge {

// The names of both ids, and the user's groups but that one and root's. Code::rejected: the
// user is not known here; busy: the database does not answer. A group without a
// name has "".
Result<BatchUser> look_up_user(std::uint32_t user_id, std::uint32_t group_id);

} // namespace bridge
