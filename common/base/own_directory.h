// SPDX-License-Identifier: GPL-2.0-or-later
// Directories in which nobody but we have written.
#pragma once

#include "common/base/owned_fd.h"

#include <string>

namespace bridge {

// None, with errno, where it cannot be opened; EPERM where it is another
// user's, or others may use it.
OwnedFd open_own_directory(const std::string &path);

} // namespace bridge
