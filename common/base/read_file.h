// SPDX-License-Identifier: GPL-2.0-or-later
// Reads whole files.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <limits>
#include <string>

namespace bridge {

inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// Returns the contents of a file of at most `longest` bytes. Code::not_found if
// it cannot be opened, Code::busy if it cannot be read, Code::rejected if it is
// longer. The message is the reason only, without the path.
Result<std::string> read_file(const std::string &path, std::size_t longest);

// The same for an open file, from its present position to its end.
Result<std::string> read_rest(int fd, std::size_t longest);

// Returns the text without the blanks and line ends that stand at its end.
std::string without_end_blanks(std::string text);

} // namespace bridge
