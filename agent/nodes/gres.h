// SPDX-License-Identifier: GPL-2.0-or-later
// How Slurm says the GRES of a node, and how it is told them; and the word in
// the node's `extra` that is ours among whatever else is there. Pure, and safe
// with whatever somebody wrote.
#pragma once

#include "agent/gres/index.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Of "gpu:a100:2(S:0),nic:1": in the order in which they come. What cannot be
// read is left out.
std::vector<GresCount> gres_counts(std::string_view gres);

// The other way round.
std::string gres_text(const std::vector<GresCount> &counts);

// What jobs have of a node, as node_info's gres_used says it. Slurm shortens a
// long list of indexes: then every index of that GRES is as good as used.
struct GresUsed {
    std::set<GresIndex> indexes;
    std::set<std::string> unknown; // the GRES of which some index is not said

    bool operator==(const GresUsed &) const = default;
};
// Of "gpu:a100:2(IDX:0,2),gpu:h100:0(IDX:N/A)".
GresUsed gres_used(std::string_view text);

// GresConf= for a node whose indexes are these: each run of one type is a
// record, so that Slurm numbers them likewise. No device file is ever opened.
std::string gres_conf(const DeviceIndex &index);

// The word of `extra` that DeviceIndex::text() made, or "". Words are separated
// by blanks.
std::string device_word(std::string_view extra);
// extra with that word instead, or without one if it is "".
std::string with_device_word(std::string_view extra, const std::string &word);

} // namespace bridge
