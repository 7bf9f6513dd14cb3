// SPDX-License-Identifier: GPL-2.0-or-later
// Where the stdin, stdout or stderr of a step's tasks goes, derived from the
// argument of srun's --input, --output or --error (fname_create() in Slurm's
// srun, and expand_stdio_fields()). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

struct StepStream {
    enum class Kind : std::uint32_t {
        all,       // all tasks, through srun
        one,       // one task, through srun; the others have /dev/null
        none,      // /dev/null
        file,      // each task opens it on its node
        srun_file, // srun opens it, and all tasks share it
    };
    Kind kind = Kind::all;
    std::uint32_t task = 0; // for Kind::one
    std::string pattern{};  // for Kind::file and Kind::srun_file

    bool operator==(const StepStream &) const = default;
};

// tasks is the number of tasks in the step. An empty argument means that the
// option was not given.
StepStream step_stream(std::string_view argument, std::uint32_t tasks);

// The values of patterns that are the same for all tasks.
struct StepFacts {
    std::uint32_t job = 0;
    std::uint32_t step = 0;
    std::uint32_t array_job = 0; // 0: the job is not part of an array
    std::uint32_t array_task = 0;
    std::uint32_t restarts = 0;
    std::string job_name;
    std::string user;

    bool operator==(const StepFacts &) const = default;
};

// The values of patterns that depend on the task.
struct TaskFacts {
    std::uint32_t task = 0; // number in the step
    std::uint32_t node = 0; // number in the step
    std::string node_name;
};

// Returns the name of the file. Without a task, %t, %n and %N are left as they
// are.
std::string expand_stream(std::string_view pattern, const StepFacts &step,
                          const std::optional<TaskFacts> &task);

} // namespace bridge
