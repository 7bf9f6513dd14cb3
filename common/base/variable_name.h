// SPDX-License-Identifier: GPL-2.0-or-later
// Entries of an environment, NAME=VALUE.
#pragma once

#include <string_view>

namespace bridge {

inline std::string_view variable_name(std::string_view entry)
{
    return entry.substr(0, entry.find('='));
}

} // namespace bridge
