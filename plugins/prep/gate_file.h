// SPDX-License-Identifier: GPL-2.0-or-later
// What the gate must know after a start of slurmctld, in one small file in
// StateSaveLocation: a slurmctld that crashed has forgotten jobs, and with them
// the epilogs that make their nodes dirty. Called by one thread at a time, and
// never under slurmctld's locks: both calls wait for the disk.
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

    // Code::not_found: there is none, or it cannot be read; Code::rejected: it
    // is damaged. Either way nothing is known.
    Result<GateMemory> load();

    // After a crash at any point there is the old file or the new one. Nothing
    // happens when the file already says this.
    Result<> save(const GateMemory &memory);

    // Whether somebody else has written it since the last load() or save(): the
    // slurmctld that a standby will take over from.
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
    std::optional<GateMemory> written_; // what it says, as far as we know
};

} // namespace bridge
