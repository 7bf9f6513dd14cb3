// SPDX-License-Identifier: GPL-2.0-or-later
// A batch job as Slurm describes it once it has its nodes. A value.
#pragma once

#include "common/slurm/job.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// A task of a job array.
struct ArrayTask {
    JobId job = 0;          // JobId of the array
    std::uint32_t task = 0; // index of the task

    bool operator==(const ArrayTask &) const = default;
};

struct BatchJob {
    Job job; // memory: as allocated if none was requested
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    std::string name;
    std::string partition;
    std::string account;
    std::string qos;
    std::string reservation;
    std::optional<std::uint32_t> time_limit; // minutes, 0: unlimited
    std::uint16_t tasks_per_node = 0;        // as requested; 0: not requested
    std::string hostlist;             // of its nodes, as squeue prints it
    std::optional<ArrayTask> array{}; // the task of an array that it is
    bool says_tasks = false;          // requested with --ntasks
    bool asks_gres = false;  // requested with --gres, --gpus or the like
    bool says_memory = true; // false: it has all memory of its nodes
    std::string tres_per_task{};
    std::string licenses{};      // as allocated
    std::string oversubscribe{}; // as in SLURM_JOB_OVERSUBSCRIBE
    std::string exclusive{};     // as in SLURM_JOB_EXCLUSIVE
    std::chrono::sys_seconds started{};
    std::chrono::sys_seconds ends{}; // by its time limit
};

} // namespace bridge
