// SPDX-License-Identifier: GPL-2.0-or-later
// UUIDs as Kubernetes takes them.
#pragma once

#include <string>

namespace bridge {

// A random one (version 4 of RFC 4122), in lower case. Any thread.
std::string new_uuid();

} // namespace bridge
