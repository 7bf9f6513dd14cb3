// SPDX-License-Identifier: GPL-2.0-or-later
// Parses and writes Slurm's GRES texts, and the agent's own word in the `extra`
// field of a node, which it shares with others. Pure; any input is safe.
#pragma once

#include "agent/gres/index.h"
#include "common/slurm/gres_counts.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Parses "gpu:a100:2(S:0),nic:1" and keeps the order. Skips records that it
// cannot parse.
std::vector<GresCount> gres_counts(std::string_view gres);
// The same as sums: by GRES, and also by type.
GresCounts sums_in(std::string_view gres);
// Whether it skips none. An administrator may have written "mem:4G".
bool all_counted(std::string_view gres);

// Writes the counts in the form that gres_counts() parses.
std::string gres_text(const std::vector<GresCount> &counts);

// The GRES that jobs use on a node, from gres_used of node_info. Slurm shortens
// long lists of indexes; all indexes of such a GRES must then be treated as
// used.
struct GresUsed {
    std::set<GresIndex> indexes;
    std::set<std::string> unknown; // GRES whose index list is incomplete

    bool operator==(const GresUsed &) const = default;
};
// Parses "gpu:a100:2(IDX:0,2),gpu:h100:0(IDX:N/A)".
GresUsed gres_used(std::string_view text);

// Returns the GresConf= of a node with these indexes. Each run of one type
// becomes a record, so that Slurm assigns the same index numbers. No device
// file is ever opened.
std::string gres_conf(const DeviceIndex &index);

// Returns the word in `extra` that DeviceIndex::text() wrote, or "". Words are
// separated by blanks.
std::string device_word(std::string_view extra);
// Returns `extra` with this word in place of the old one, or without one if it
// is "".
std::string with_device_word(std::string_view extra, const std::string &word);

} // namespace bridge
