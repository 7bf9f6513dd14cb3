// SPDX-License-Identifier: GPL-2.0-or-later
// A batch job that runs as a Pod, as a value: what Slurm says of it when it has
// its node, and the mark by which its Pod names it. Knows neither libslurm nor
// the API server.
#pragma once

#include "common/slurm/job.h"
#include "agent/objects/objects.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// A task of a job array.
struct ArrayTask {
    JobId job = 0;          // the array's
    std::uint32_t task = 0; // its index

    bool operator==(const ArrayTask &) const = default;
};

struct BatchJob {
    Job job; // its memory is what it was given, where it asked for none
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    std::string name;
    std::string partition;
    std::string account;
    std::string qos;
    std::string reservation;
    std::optional<std::uint32_t> time_limit; // minutes, 0: unlimited
    std::uint16_t tasks_per_node = 0; // as asked; 0: not
    std::string hostlist; // of its nodes, as squeue prints them
    std::optional<ArrayTask> array{}; // which of an array's tasks it is
    bool says_tasks = false; // it was asked for with --ntasks
    bool asks_gres = false; // by --gres, --gpus or the like
    bool says_memory = true; // else it was given all that its node has
    std::string tres_per_task{};
    std::string licenses{};      // that it was given
    std::string oversubscribe{}; // as SLURM_JOB_OVERSUBSCRIBE has it
    std::string exclusive{};     // as SLURM_JOB_EXCLUSIVE has it
    std::chrono::sys_seconds started{};
    std::chrono::sys_seconds ends{}; // by its time limit
};

// What a Pod says of the batch job for which it was made.
struct BatchMark {
    JobRef job;
    std::string script; // the name of its file
    std::optional<ArrayTask> array{};

    bool operator==(const BatchMark &) const = default;
};

std::string encode(const BatchMark &mark);
// Nothing for any other Pod.
std::optional<BatchMark> batch_mark(const Pod &pod);

// Both are of the same task of one array. A crash of slurmctld makes it forget
// that it has started a task, which then gets another JobId.
bool is_same_task(const BatchMark &one, const BatchMark &other);

// The name of the Pod, and of its Secret: the same whenever it is asked for, and
// of an array's task whatever JobId that has.
std::string batch_pod_name(const BatchMark &mark);

} // namespace bridge
