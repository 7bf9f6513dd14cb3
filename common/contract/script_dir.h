// SPDX-License-Identifier: GPL-2.0-or-later
// Batch scripts on disk: one file (mode 0600) for each, in a directory (mode
// 0700) of SlurmUser in StateSaveLocation, where slurmctld keeps the scripts of
// its own jobs. A thread of job_submit/k8s writes them; a job may be there some
// milliseconds before its file is. The agent on the same host reads and removes
// them. May be used by several threads and processes: names are random, and a
// file is written once.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// What a file system has, and what of it is free for SlurmUser.
struct FileSystemRoom {
    std::uint64_t bytes = 0;
    std::uint64_t free_bytes = 0;
    std::uint64_t files = 0; // inodes; 0: it makes them as it needs them
    std::uint64_t free_files = 0;
};

// Tells whether enough is left for slurmctld's own state: a tenth of the bytes,
// or 1 GiB where that is less, and a tenth of the inodes.
bool leaves_room(const FileSystemRoom &room);

// Returns a name for put(); "" if there are no random numbers.
std::string new_script_name();

class ScriptDir {
  public:
    explicit ScriptDir(std::string path) : path_(std::move(path)) {}

    // Writes a new file with a name from new_script_name(). The file is not
    // synced to disk: if the machine crashes, an incomplete file is recognised
    // by its contents. Code::busy with the system's message; an incomplete file
    // is removed. Also Code::busy for what check_room() says.
    Result<> put(const std::string &name, std::string_view text) const;

    // Code::busy if the file system is almost full (leaves_room()), because
    // slurmctld keeps its state there.
    Result<> check_room() const;

    // Code::not_found if there is no such file; Code::rejected if name or the
    // file is not one of ours; Code::busy if the directory is missing or
    // belongs to somebody else, which says nothing about the file.
    Result<std::string> read(const std::string &name) const;

    // Succeeds if the file does not exist.
    Result<> remove(const std::string &name) const;

    // Returns false only if the file certainly does not exist.
    bool may_exist(const std::string &name) const;

    // Returns the files whose names have the form that put() gives; none if
    // there is no directory.
    Result<std::vector<std::string>> list() const;

    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

} // namespace bridge
