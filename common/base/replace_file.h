// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces whole files at once: whoever reads one sees the old or the new text,
// also after a crash.
#pragma once

#include "common/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bridge {

struct FileRights {
    mode_t mode = 0644;
    std::optional<uid_t> owner{}; // otherwise whoever runs the program
    std::optional<gid_t> group{};
};

// Writes text to PATH.new, which nobody else can read before it has its owner
// and mode, and renames that to path. Symbolic links are not followed: a link
// at path is replaced. Code::denied if this user may not write there,
// Code::busy with the system's message for any other reason; then the file at
// path is as it was.
Result<> replace_file(const std::string &path, std::string_view text,
                      const FileRights &rights);

// Returns the directory in which the file is: "." for a name without one.
std::string directory_of(const std::string &path);

} // namespace bridge
