// SPDX-License-Identifier: GPL-2.0-or-later
// A batch job has a Pod on each of its nodes. The first runs the script; the
// others, its workers, wait until something starts a process there. Which node
// of the job a Pod is for, and what is the job's there. Pure.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/contract/batch_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct BatchPlace {
    std::uint32_t rank = 0;  // among the job's nodes, in Slurm's order
    std::uint32_t count = 1; // of its nodes
    std::string node;        // Slurm's
    std::string first{};     // empty: it is the first

    bool operator==(const BatchPlace &) const = default;
};

std::string encode(const BatchPlace &place);
// Nothing for a Pod of no batch job, or that an earlier agent made for a job of
// one node.
std::optional<BatchPlace> batch_place(const Pod &pod);
bool is_worker(const Pod &pod);

// It was made for that place. Where an earlier agent made it, for any node of a
// job of one.
bool is_made_for(const Pod &pod, const BatchPlace &place);
// Likewise, for one of the nodes that the job has.
bool is_made_for(const Pod &pod, const Job &job);

// first: the uid of the first Pod, for a worker. rank must be below the number
// of the job's nodes.
BatchPlace place_on(const BatchJob &batch, std::uint32_t rank,
                    const std::string &first = {});

// The name of that Pod. The first has the one that a Pod of a job of one node
// has, and comes before all others where they are in order.
std::string batch_pod_name(const BatchMark &mark, const BatchPlace &place);

// What of the job is on that node: its CPUs and GRES, and its memory, of which
// Slurm says what it is on each.
BatchJob on_node(const BatchJob &batch, std::uint32_t rank);

// The job's CPUs on each of its nodes; never empty.
std::vector<std::uint32_t> cpus_on_each(const Job &job);

// How many tasks of the job each of its nodes has, as slurmctld reckons it
// (slurm_step_layout.c, by default).
std::vector<std::uint32_t> tasks_on_each(const BatchJob &batch);

// "2(x3),1", as Slurm's variables have such a list.
std::string in_short(const std::vector<std::uint32_t> &numbers);

} // namespace bridge
