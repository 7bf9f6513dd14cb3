// SPDX-License-Identifier: GPL-2.0-or-later
// Stores in StateSaveLocation what the gate must know after a restart of
// slurmctld: a slurmctld that crashed has forgotten jobs, and with them the
// epilogs that make their nodes dirty. Called by one thread at a time, and
// never under slurmctld's locks: load() and save() wait for the disk.
#pragma once

#include "common/base/result.h"
#include "plugins/prep/gate.h"

#include <optional>
#include <string>
#include <sys/stat.h>

namespace bridge {

class GateFile {
  public:
    explicit GateFile(std::string path) : path_(std::move(path)) {}

    // Code::not_found if the file does not exist: there is nothing to know.
    // Otherwise something was known and is lost: Code::rejected if the file is
    // damaged or a newer plugin wrote it, Code::busy if it cannot be read.
    Result<GateMemory> load();

    // Replaces the file atomically: after a crash there is either the old or
    // the new version. Does nothing if the file already has these contents.
    // Code::busy with the system's message.
    Result<> save(const GateMemory &memory);

    // Tells whether somebody else has written the file since the last load() or
    // save(). That is the slurmctld from which one on standby will take over.
    bool changed_by_others() const;

  private:
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        timespec changed{};

        bool operator==(const Identity &other) const;
    };
    Identity identity() const;

    std::string path_;
    Identity seen_;
    std::optional<GateMemory> written_; // contents of the file, as far as known
};

} // namespace bridge
