// SPDX-License-Identifier: GPL-2.0-or-later
// What unfinished jobs need of Slurm's nodes, as far as it forbids to take one
// away, and the shadow placeholders among them. Values only.
//
// A shadow placeholder is an external job of SlurmUser on one node. It holds what
// Slurm would give away there and Kubernetes no longer has, because Pods of other
// schedulers came: a node's size cannot change while jobs are on it. Its
// admin_comment says so, so that any later life of the agent finds it again, and
// nobody takes it for a Pod's job.
#pragma once

#include "common/job_ref.h"
#include "common/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// CPUs and memory as Slurm counts them.
struct NodeRoom {
    std::uint32_t cpus = 0;
    MebiBytes memory;

    bool operator==(const NodeRoom &) const = default;
    bool none() const { return cpus == 0 && memory.value == 0; }
    bool covers(const NodeRoom &other) const
    {
        return cpus >= other.cpus && memory >= other.memory;
    }
};

struct NodeUse {
    JobRef job;
    bool pending = false;
    std::vector<std::string> named; // nodes that it asks for, or rules out
    std::string features;           // that it asks for, as Slurm has them
    std::string shadow_of;          // the node, if it is a shadow placeholder
    NodeRoom room;                  // of a shadow

    bool operator==(const NodeUse &) const = default;
};

// The admin_comment of a shadow placeholder, and the node that one names;
// nothing for every other.
std::string encode_shadow(const std::string &node);
std::optional<std::string> decode_shadow(const std::string &admin_comment);

} // namespace bridge
