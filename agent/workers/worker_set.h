// SPDX-License-Identifier: GPL-2.0-or-later
// A NodeSet, as far as the agent has to do with it: whether it follows Slurm's
// queue, and which workers it may have then. A value.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"
#include "common/contract/autoscale.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

struct WorkerSet {
    ObjectKey key;
    std::string uid;
    std::string controller; // that it names
    std::int64_t replicas = 0;
    bool ending = false; // has a deletionTimestamp
    // Nothing: it does not follow the queue.
    std::optional<PotentialWorkers> potential;

    bool follows_queue() const { return potential && !ending; }
    bool operator==(const WorkerSet &) const = default;
};

WorkerSet worker_set_from(const Json &node_set);

} // namespace bridge
