// SPDX-License-Identifier: GPL-2.0-or-later
// What unfinished jobs need and have of Slurm's nodes, and the shadow jobs.
// Values only.
//
// A shadow job is an external job of SlurmUser on one node. It holds resources
// that Slurm could otherwise allocate there but that Pods of other schedulers
// use: the size of a node cannot change while jobs are on it. Its admin_comment
// identifies it, so that the agent finds it again after a restart and nobody
// takes it for the job of a Pod.
#pragma once

#include "common/base/units.h"
#include "common/contract/job_ref.h"

#include <chrono>
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
    std::map<std::string, std::uint32_t> gres = {}; // by "gpu:a100"; counts
                                                    // above 0

    bool operator==(const NodeRoom &) const = default;
    bool none() const { return *this == NodeRoom{}; }
    bool covers(const NodeRoom &other) const
    {
        return rest(other, *this).none();
    }

    NodeRoom &operator+=(const NodeRoom &more);
    // Returns all minus part, at least 0 of each.
    static NodeRoom rest(const NodeRoom &all, const NodeRoom &part);
};

// Where a shadow job is submitted: common/slurm/shadow_partitions.h.
enum class ShadowTier : std::uint8_t {
    highest, // it fits into what is free
    lowest   // it waits until jobs end
};

struct NodeUse {
    JobRef job;
    bool pending = false;
    // Nodes that it requests, or has while it is suspended.
    std::vector<std::string> named;
    std::string features;        // requested features, in Slurm's form
    std::string shadow_of;       // the node, if this is a shadow job
    NodeRoom room;               // size of a shadow job
    std::string partitions = {}; // separated by commas
    // Only a lack of resources, or jobs before it, keep it from starting.
    bool in_line = false;
    std::uint32_t time_limit = 0; // minutes, or Slurm's INFINITE
    bool external = true; // an ordinary job never starts on an external node
    // Slurm does without the nodes in `named`, but for a line in slurmctld's
    // log: the job has ended, and slurmctld remembers it (MinJobAge), or this
    // is what a job excludes. Apart from the job only `named` is set then.
    bool over = false;

    bool operator==(const NodeUse &) const = default;
};

// A job that has nodes. end: when it ends at the latest; nothing: it may run
// without a limit.
struct NodeHolder {
    JobRef job;
    std::vector<std::string> nodes;
    std::optional<std::chrono::sys_seconds> end{};

    bool operator==(const NodeHolder &) const = default;
};

// encode_shadow() returns the admin_comment of a shadow job for this node.
// decode_shadow() returns the node, or nothing if the comment is not that of a
// shadow job.
std::string encode_shadow(const std::string &node);
std::optional<std::string> decode_shadow(const std::string &admin_comment);

} // namespace bridge
