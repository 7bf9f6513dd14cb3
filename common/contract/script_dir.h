// SPDX-License-Identifier: GPL-2.0-or-later
// Batch scripts on disk: one file each, 0600, in a directory 0700 of SlurmUser
// in StateSaveLocation, where slurmctld keeps the scripts of its own jobs.
// job_submit/k8s writes them, as slurmctld does with its job lock held; the
// agent beside it reads and removes them. Safe from several threads and
// processes: a name is random, and a file is written once.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class ScriptDir {
  public:
    explicit ScriptDir(std::string path) : path_(std::move(path)) {}

    // Writes a new file; returns its name. Not synchronised: what a crash of
    // the machine tears is told from a whole one by what it says. The errors
    // are the system's words, Code::busy; nothing stays of what was begun.
    // slurmctld keeps its state beside it: refused where little of the file
    // system is free.
    Result<std::string> put(std::string_view text) const;

    // Code::not_found when there is none, rejected for what is no file of ours.
    // busy where the directory is missing or somebody else's: that says nothing
    // about a file.
    Result<std::string> read(const std::string &name) const;

    // Success also when there is none.
    Result<> remove(const std::string &name) const;

    // False only where there is none, for sure.
    bool may_exist(const std::string &name) const;

    // Those with names that put() gives. Nothing when there is no directory.
    Result<std::vector<std::string>> list() const;

    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

} // namespace bridge
