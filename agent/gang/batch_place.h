// SPDX-License-Identifier: GPL-2.0-or-later
// Places of a batch job's Pods. A batch job has one Pod on each of its nodes.
// The first runs the script; the others, its workers, wait until something
// starts a process there. This file tells which node a Pod was created for and
// which part of the job is on that node. Pure.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/contract/batch_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct BatchPlace {
    std::uint32_t rank = 0;  // index among the job's nodes, in Slurm's order
    std::uint32_t count = 1; // number of the job's nodes
    std::string node;        // Slurm's name
    std::string first{};     // uid of the first Pod; empty: it is the first

    bool operator==(const BatchPlace &) const = default;
};

std::string encode(const BatchPlace &place);
// Returns nothing for a Pod of no batch job, and for a Pod of a one-node job
// that an earlier version of the agent created.
std::optional<BatchPlace> batch_place(const Pod &pod);
bool is_worker(const Pod &pod);

// Whether the Pod was created for this place. True for every place of a
// one-node job if the Pod has no place annotation (earlier agent).
bool is_made_for(const Pod &pod, const BatchPlace &place);
// Whether the Pod was created for one of the nodes that the job has now.
bool is_made_for(const Pod &pod, const Job &job);

// Returns the place with this rank, which must be below the number of the job's
// nodes. first: the uid of the first Pod, only for a worker.
BatchPlace place_on(const BatchJob &batch, std::uint32_t rank,
                    const std::string &first = {});

// Returns the name of the Pod at this place. The first Pod has the same name as
// the Pod of a one-node job and sorts before all others.
std::string batch_pod_name(const BatchMark &mark, const BatchPlace &place);

// Returns the job reduced to one node: the CPUs and GRES there, and the memory,
// which Slurm states per node.
BatchJob on_node(const BatchJob &batch, std::uint32_t rank);

// Returns the job's CPUs on each of its nodes; never empty.
std::vector<std::uint32_t> cpus_on_each(const Job &job);

// Returns the number of tasks on each of the job's nodes, by slurmctld's
// default distribution (slurm_step_layout.c).
std::vector<std::uint32_t> tasks_on_each(const BatchJob &batch);

// Formats numbers as "2(x3),1", the form of lists in Slurm's variables.
std::string in_short(const std::vector<std::uint32_t> &numbers);

} // namespace bridge
