// SPDX-License-Identifier: GPL-2.0-or-later
// Writes whole texts to file descriptors.
#pragma once

#include <string_view>

namespace bridge {

// Returns false, with errno set, if not everything could be written; a part may
// have been written.
bool write_all(int fd, std::string_view text);

} // namespace bridge
