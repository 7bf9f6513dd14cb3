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
    std::uint16_t tasks_per_node = 0;        // as asked; 0: not
    std::string hostlist;             // of its nodes, as squeue prints them
    std::optional<ArrayTask> array{}; // which of an array's tasks it is
    bool says_tasks = false;          // it was asked for with --ntasks
    bool asks_gres = false;           // by --gres, --gpus or the like
    bool says_memory = true;          // else it was given all that its node has
    std::string tres_per_task{};
    std::string licenses{};      // that it was given
    std::string oversubscribe{}; // as SLURM_JOB_OVERSUBSCRIBE has it
    std::string exclusive{};     // as SLURM_JOB_EXCLUSIVE has it
    std::chrono::sys_seconds started{};
    std::chrono::sys_seconds ends{}; // by its time limit
};

} // namespace bridge
