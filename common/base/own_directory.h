// SPDX-License-Identifier: GPL-2.0-or-later
// Opens directories to which only our own user has access.
#pragma once

#include "common/base/owned_fd.h"

#include <string>

namespace bridge {

// Opens a directory. On failure the descriptor is empty and errno is set; EPERM
// means that the directory belongs to another user or that others have access.
OwnedFd open_own_directory(const std::string &path);

} // namespace bridge
