// SPDX-License-Identifier: GPL-2.0-or-later
// What a job that waits needs of nodes of a given size. Pure.
#pragma once

#include "common/base/units.h"
#include "common/slurm/gres_counts.h"
#include "common/slurm/job_queue.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// What a node has for jobs.
struct NodeCapacity {
    std::uint32_t cpus = 0;
    MebiBytes memory;
    GresCounts gres;
    std::string features; // with commas
};

// What a job has of each of its nodes.
struct NodeShare {
    std::uint32_t cpus = 0;
    MebiBytes memory;
    GresCounts gres;

    bool operator==(const NodeShare &) const = default;
};

struct JobShare {
    std::uint32_t nodes = 1;
    NodeShare share;
};

// Whether the node has room for the share.
bool covers(const NodeCapacity &has, const NodeShare &needs);

// What a job needs of nodes of this size: as few of them as it may have.
// Nothing if it cannot run there.
std::optional<JobShare> share_of(const WaitingJob &job,
                                 const NodeCapacity &size);

} // namespace bridge
