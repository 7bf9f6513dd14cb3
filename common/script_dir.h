// SPDX-License-Identifier: GPL-2.0-or-later
// Batch scripts on disk: one file each, 0600, in a directory 0700 of SlurmUser
// in StateSaveLocation, where slurmctld keeps the scripts of its own jobs.
// job_submit/k8s writes them, as slurmctld does with its job lock held; the
// agent beside it reads and removes them. Safe from several threads and
// processes: a name is random, and a file is written once.
#pragma once

#include "common/result.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class ScriptDir {
  public:
    explicit ScriptDir(std::string path) : path_(std::move(path)) {}

    // Writes a new file; returns its name. Not synchronised: what a crash of the
    // machine tears is told from a whole one by what it says. The errors are the
    // system's words, Code::busy; nothing stays of what was begun.
    Result<std::string> put(std::string_view text) const;

    // Code::not_found when there is none, rejected for what is no file of ours.
    Result<std::string> read(const std::string &name) const;

    // Success also when there is none.
    Result<> remove(const std::string &name) const;

    struct File {
        std::string name;
        std::chrono::seconds age; // since it was written, by the wall clock
    };
    // Those with names that put() gives. Nothing when there is no directory.
    Result<std::vector<File>> list() const;

  private:
    std::string path_;
};

} // namespace bridge
