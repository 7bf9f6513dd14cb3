// SPDX-License-Identifier: GPL-2.0-or-later
// What unfinished jobs need of Slurm's nodes, as far as it forbids to take one
// away, and the shadow placeholders among them. Values only.
//
// A shadow placeholder is an external job of SlurmUser on one node. It holds
// what Slurm would give away there and Kubernetes no longer has, because Pods
// of other schedulers came: a node's size cannot change while jobs are on it.
// Its admin_comment says so, so that any later life of the agent finds it
// again, and nobody takes it for a Pod's job.
#pragma once

#include "common/base/units.h"
#include "common/contract/job_ref.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// CPUs, memory and GRES as Slurm counts them.
struct NodeRoom {
    std::uint32_t cpus = 0;
    MebiBytes memory;
    std::map<std::string, std::uint32_t> gres = {}; // by "gpu:a100", above 0

    bool operator==(const NodeRoom &) const = default;
    bool none() const { return *this == NodeRoom{}; }
    bool covers(const NodeRoom &other) const
    {
        return rest(other, *this).none();
    }

    NodeRoom &operator+=(const NodeRoom &more);
    // What part leaves of all, at least 0 of each.
    static NodeRoom rest(const NodeRoom &all, const NodeRoom &part);
};

struct NodeUse {
    JobRef job;
    bool pending = false;
    std::vector<std::string> named; // nodes that it asks for, or rules out
    std::string features;           // that it asks for, as Slurm has them
    std::string shadow_of;          // the node, if it is a shadow placeholder
    NodeRoom room;                  // of a shadow
    std::string partitions = {};    // separated by commas
    // Nothing but a lack of room, or those before it, keeps it from its start.
    bool in_line = false;
    std::uint32_t time_limit = 0; // minutes, or Slurm's INFINITE

    bool operator==(const NodeUse &) const = default;
};

// The admin_comment of a shadow placeholder, and the node that one names;
// nothing for every other.
std::string encode_shadow(const std::string &node);
std::optional<std::string> decode_shadow(const std::string &admin_comment);

} // namespace bridge
