// SPDX-License-Identifier: GPL-2.0-or-later
// Writing to files.
#pragma once

#include <string_view>

namespace bridge {

// False: errno says why, and some of it may be written.
bool write_all(int fd, std::string_view text);

} // namespace bridge
