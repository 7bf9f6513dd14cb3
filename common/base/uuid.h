// SPDX-License-Identifier: GPL-2.0-or-later
// UUIDs as Kubernetes accepts them.
#pragma once

#include <string>

namespace bridge {

// Returns a random UUID (version 4 of RFC 4122) in lower case. May be called by
// any thread.
std::string new_uuid();

} // namespace bridge
