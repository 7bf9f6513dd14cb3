// SPDX-License-Identifier: GPL-2.0-or-later
// Small files, 0600, in a directory 0700 of our own user. A directory or a file
// of somebody else is never used. Safe from several threads and processes: a
// file is written once.
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

    // Success also when it is there.
    Result<> make() const;
    // A new file; nothing stays of what could not be written. Code::busy, in
    // the system's words. The name has no '/'.
    Result<> put(const std::string &name, std::string_view text) const;
    // Code::not_found when there is no such file; rejected for what is no file
    // of ours, or longer; busy where the directory is missing or cannot be
    // used: that says nothing about a file.
    Result<std::string> read(const std::string &name,
                             std::size_t longest) const;
    // Success also when there is none.
    Result<> remove(const std::string &name) const;
    // All names but those that begin with a dot.
    Result<std::vector<std::string>> list() const;

  private:
    std::string path_;
};

} // namespace bridge
