// SPDX-License-Identifier: GPL-2.0-or-later
// Where the stdin, stdout or stderr of a step's tasks goes, from the argument
// of srun's --input, --output or --error (fname_create() in Slurm's srun, and
// expand_stdio_fields()). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

struct StepStream {
    enum class Kind : std::uint32_t {
        all,       // through srun, of all tasks
        one,       // likewise, of one task; the others have /dev/null
        none,      // /dev/null
        file,      // each task opens it on its node
        srun_file, // srun opens it, and all tasks share it
    };
    Kind kind = Kind::all;
    std::uint32_t task = 0; // of Kind::one
    std::string pattern{};  // of the two Kinds of files

    bool operator==(const StepStream &) const = default;
};

// tasks: how many the step has. An empty argument: none was given.
StepStream step_stream(std::string_view argument, std::uint32_t tasks);

// What the patterns stand for, that is the same for all tasks.
struct StepFacts {
    std::uint32_t job = 0;
    std::uint32_t step = 0;
    std::uint32_t array_job = 0; // 0: the job is of no array
    std::uint32_t array_task = 0;
    std::uint32_t restarts = 0;
    std::string job_name;
    std::string user;

    bool operator==(const StepFacts &) const = default;
};

// And what is not.
struct TaskFacts {
    std::uint32_t task = 0; // of the step
    std::uint32_t node = 0; // of the step
    std::string node_name;
};

// The file's name. Without a task %t, %n and %N stay as they are.
std::string expand_stream(std::string_view pattern, const StepFacts &step,
                          const std::optional<TaskFacts> &task);

} // namespace bridge
