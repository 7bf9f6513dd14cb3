// SPDX-License-Identifier: GPL-2.0-or-later
// Names of users, for messages.
#pragma once

#include <cstdint>
#include <string>

namespace bridge {

// Returns the user's name, or the id as a number if it has none. May block on a
// directory server.
std::string user_name(std::uint32_t id);

} // namespace bridge
