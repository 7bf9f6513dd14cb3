// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/task_states.h"

#include "cli/srun/host_names.h"

#include <algorithm>
#include <cstring>
#include <sys/wait.h>
#include <utility>

namespace bridge {

namespace {

std::string tasks_text(const std::vector<TaskId> &tasks)
{
    return (tasks.size() == 1 ? "task " : "tasks ") + compress_numbers(tasks);
}

} // namespace

TaskStates::TaskStates(std::uint32_t tasks, std::string name)
    : states_(tasks), name_(std::move(name)), left_(tasks)
{
}

void TaskStates::started(const std::vector<TaskId> &tasks)
{
    for (TaskId task : tasks)
        states_[task] = State::running;
}

std::string TaskStates::ended(const std::string &node,
                              const std::vector<TaskId> &tasks, int status)
{
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (TaskId task : tasks) {
        left_ -= !has_ended(task);
        states_[task] = good ? State::exited : State::failed;
    }
    if (good)
        return {};
    failed_ = true;
    std::string words = node + ": " + tasks_text(tasks) + ": ";
    if (WIFEXITED(status)) {
        highest_code_ = std::max(highest_code_, WEXITSTATUS(status));
        return words + "Exited with exit code " +
               std::to_string(WEXITSTATUS(status));
    }
    int signal = WTERMSIG(status);
    highest_signal_ = std::max(highest_signal_, signal);
    const char *name = sigdescr_np(signal);
    words += name ? name : "Signal " + std::to_string(signal);
    return words + (WCOREDUMP(status) ? " (core dumped)" : "");
}

void TaskStates::lost(const std::vector<TaskId> &tasks)
{
    for (TaskId task : tasks)
        if (!has_ended(task)) {
            left_--;
            states_[task] = State::failed;
        }
    failed_ = true;
    highest_code_ = std::max(highest_code_, 1);
}

int TaskStates::exit_code() const
{
    return highest_signal_ > 0 ? 128 + highest_signal_ : highest_code_;
}

std::vector<std::string> TaskStates::describe() const
{
    constexpr std::pair<State, const char *> kinds[] = {
        {State::running, "running"},
        {State::failed, "exited abnormally"},
        {State::exited, "exited"},
        {State::unknown, "unknown"}};
    std::vector<std::string> lines;
    for (auto [state, words] : kinds) {
        std::vector<TaskId> tasks;
        for (std::size_t task = 0; task < states_.size(); task++)
            if (states_[task] == state)
                tasks.push_back(static_cast<TaskId>(task));
        if (!tasks.empty())
            lines.push_back(name_ + " " + tasks_text(tasks) + ": " + words);
    }
    return lines;
}

} // namespace bridge
