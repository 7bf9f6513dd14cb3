// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/io_name.h"

#include "common/base/ascii.h"
#include "common/base/padded.h"
#include "common/base/text.h"
#include "common/contract/name_pattern.h"

namespace bridge {

namespace {

// Returns the value of a pattern's letter, or nothing if it has no meaning.
std::optional<std::string> expansion(char letter, std::size_t digits,
                                     const StepFacts &step,
                                     const std::optional<TaskFacts> &task)
{
    switch (letter) {
    case 'A':
        return padded(step.array_job ? step.array_job : step.job, digits);
    case 'a':
        return padded(step.array_task, digits);
    case 'b':
        return padded(step.array_task % 10, digits);
    case 'J':
        return padded(step.job, digits) + "." + std::to_string(step.step);
    case 'j':
        return padded(step.job, digits);
    case 'r':
        return padded(step.restarts, digits);
    case 's':
        return padded(step.step, digits);
    case 'u':
        return step.user;
    case 'x':
        return step.job_name;
    default:
        break;
    }
    if (!task)
        return std::nullopt;
    switch (letter) {
    case 'N':
        return task->node_name.substr(0, task->node_name.find('.'));
    case 'n':
        return padded(task->node, digits);
    case 't':
        return padded(task->task, digits);
    default:
        return std::nullopt;
    }
}

// Returns whether the file's name differs between tasks.
bool differs_by_task(std::string_view pattern)
{
    TaskFacts one{1, 1, "one"}, other{2, 2, "other"};
    return expand_stream(pattern, {}, one) != expand_stream(pattern, {}, other);
}

} // namespace

StepStream step_stream(std::string_view argument, std::uint32_t tasks)
{
    using Kind = StepStream::Kind;
    std::string word = lower_case(argument);
    if (word.empty() || word.starts_with("all") || word.starts_with('-'))
        return {};
    if (word == "none")
        return {Kind::none};
    if (auto task = whole_number<std::uint32_t>(argument);
        task && *task < tasks)
        return {Kind::one, *task};
    return {differs_by_task(argument) ? Kind::file : Kind::srun_file, 0,
            std::string(argument)};
}

std::string expand_stream(std::string_view pattern, const StepFacts &step,
                          const std::optional<TaskFacts> &task)
{
    return expand_pattern(pattern, [&](char letter, std::size_t digits) {
        return expansion(letter, digits, step, task);
    });
}

} // namespace bridge
