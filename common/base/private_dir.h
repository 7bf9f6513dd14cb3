// SPDX-License-Identifier: GPL-2.0-or-later
// Small files (mode 0600) in a directory (mode 0700) of our own user. A
// directory or file that belongs to somebody else is never used. A file is seen
// when all of it is written. May be used by several threads and processes.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class PrivateDir {
  public:
    explicit PrivateDir(std::string path) : path_(std::move(path)) {}

    // Creates the directory. Succeeds if the directory exists already.
    Result<> make() const;
    // Writes a file, or replaces it; one that cannot be written completely is
    // not there. Two threads must not write the same. Code::busy with the
    // system's message. The name must not contain '/'.
    Result<> put(const std::string &name, std::string_view text) const;
    // Code::not_found if there is no such file; Code::rejected if it is not a
    // regular file of our own user, or is longer than longest (bytes);
    // Code::busy if the directory is missing or cannot be used, which says
    // nothing about the file.
    Result<std::string> read(const std::string &name,
                             std::size_t longest) const;
    // Succeeds if the file does not exist.
    Result<> remove(const std::string &name) const;
    // Returns all names that do not begin with a dot; none if there is no
    // directory.
    Result<std::vector<std::string>> list() const;

  private:
    std::string path_;
};

} // namespace bridge
