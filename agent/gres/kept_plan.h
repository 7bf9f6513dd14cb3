// SPDX-License-Identifier: GPL-2.0-or-later
// The plans for single nodes of a job, kept until its Pods are bound: those for
// many nodes take several turns of the owner thread. Values.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/claim_plan.h"
#include "agent/gres/claim_store.h"
#include "common/slurm/job.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct KeptPlan {
    std::string key = {};                    // plan_key()
    std::vector<std::uint64_t> changes = {}; // changes_of()
    std::weak_ptr<const DeviceCatalog> catalog = {};
    // Null: answers are missing for it, and the gang waits for them.
    std::shared_ptr<const ClaimsPlan> plan = nullptr;
};

struct NodePlans {
    JobRef job{};
    std::map<std::string, KeptPlan> by_node = {}; // Slurm's names
    // Turns that were too short after plans were lost: others had changed what
    // is taken of the pools there, or drivers their devices.
    unsigned lost_turns = 0;
};

// A plan for a node of a job (an index of its nodes) holds as long as these and
// the catalog are the same: what the job and its Pods have and need there, and
// what is taken of the pools on the node. Labels of the Node, and holds whose
// time has come, are left out: each plan may be that much older than what is
// written by it.
std::string plan_key(const DeviceNeeds &needs, const Job &job,
                     std::size_t node);
std::vector<std::uint64_t> changes_of(const std::vector<DevicePool> &pools,
                                      const ClaimStore &claims);

} // namespace bridge
