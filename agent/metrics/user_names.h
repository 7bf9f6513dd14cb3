// SPDX-License-Identifier: GPL-2.0-or-later
// Names of users by their number.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bridge {

using UserNames = std::map<std::uint32_t, std::string>;

// The name, or the number of a user who is not there.
inline std::string name_in(const UserNames &names, std::uint32_t user)
{
    auto known = names.find(user);
    return known == names.end() ? std::to_string(user) : known->second;
}

} // namespace bridge
