// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes of the job a step has, and which task runs where, by the rules of
// srun (opt.c, srun_job.c) and slurmctld (slurm_step_layout.c). Pure functions.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// A number given to srun.
struct StepNumber {
    std::uint32_t value = 0;
    bool from_environment = false;

    bool operator==(const StepNumber &) const = default;
};

enum class TaskOrder { block, cyclic, plane };

// What was requested from srun.
struct StepRequest {
    std::optional<StepNumber> tasks{};     // -n
    std::optional<StepNumber> min_nodes{}; // -N
    std::uint32_t max_nodes = 0;           // -N MIN-MAX; 0: not given
    std::optional<std::uint32_t> tasks_per_node{};
    std::uint32_t cpus_per_task = 0;      // 0: not given
    std::string nodes{};                  // -w
    std::string without{};                // -x
    std::optional<std::uint32_t> first{}; // -r
    TaskOrder order = TaskOrder::block;
    std::uint32_t plane = 0; // for TaskOrder::plane
    bool overcommit = false; // -O
};

// The nodes of the job.
struct JobNodes {
    std::vector<std::string> names;  // in the order of their ranks
    std::vector<std::uint32_t> cpus; // of each node; empty: unknown
};

struct StepNode {
    std::uint32_t rank = 0;           // in the job
    std::vector<std::uint32_t> tasks; // ascending

    bool operator==(const StepNode &) const = default;
};

struct StepPlan {
    std::uint32_t tasks = 0;
    std::vector<StepNode> nodes;       // in the order of their ranks
    std::vector<std::string> warnings; // for the user

    std::vector<std::uint32_t> tasks_per_node() const;
};

// Code::rejected, with Slurm's message, when the request cannot be met.
Result<StepPlan> plan_step(StepRequest request, const JobNodes &job);

// Returns the numbers of the tasks on each node. slots says for how many tasks
// a node has CPUs. Once all nodes are full, the remaining tasks are distributed
// in the same way.
std::vector<std::vector<std::uint32_t>>
lay_out_tasks(std::uint32_t tasks, const std::vector<std::uint32_t> &slots,
              TaskOrder order, std::uint32_t plane);

} // namespace bridge
