// SPDX-License-Identifier: GPL-2.0-or-later
// A NodeSet whose replicas follow Slurm's queue, as its annotations ask for.
// The operator knows nothing of jobs: it checks the annotations, and tells the
// agent beside slurmctld by another one which workers there may be. The agent
// sets the replicas, of which no more and no fewer than the range are made.
// Pure.
#pragma once

#include "common/contract/autoscale.h"
#include "operator/decide/objects.h"
#include "operator/decide/status.h"
#include "operator/decide/step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

struct Autoscale {
    bool asked = false;                      // one of the annotations is there
    std::string problem;                     // why it is not done: a sentence
    std::optional<PotentialWorkers> workers; // if it is
};

Autoscale autoscale_of(const NodeSet &set);

// How many Pods are wished in the mode StatefulSet: replicas, within the range.
std::int64_t wished_replicas(const NodeSet &set);
// How many there may be without another change of the spec or the annotations.
std::int64_t most_replicas(const NodeSet &set);

// Writes what the agent reads, if it is not there yet.
std::vector<Step> tell_agent(const NodeSet &set);

// The condition Autoscaled; nothing if nobody asks.
std::optional<Said> autoscaled(const NodeSet &set);

} // namespace bridge::slinky
