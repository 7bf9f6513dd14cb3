// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_tasks.h"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>

namespace bridge {

void StepTasks::add(TaskProcess process)
{
    tasks_.push_back({process.task,
                      process.pid,
                      {std::move(process.in)},
                      {StepFrameKind::output, std::move(process.out)},
                      {StepFrameKind::error, std::move(process.error)}});
}

bool StepTasks::all_ended() const
{
    return std::ranges::all_of(tasks_, &ServedTask::ended);
}

bool StepTasks::any_output() const
{
    return std::ranges::any_of(tasks_, [](const ServedTask &task) {
        return task.out.open() || task.error.open();
    });
}

void StepTasks::close_streams()
{
    for (ServedTask &task : tasks_) {
        task.in.fd = OwnedFd();
        task.out.finish();
        task.error.finish();
    }
}

void StepTasks::signal(int number)
{
    for (const ServedTask &task : tasks_)
        if (!task.ended)
            kill(-task.pid, number);
    if (number == SIGKILL)
        kill_orphans();
}

std::map<int, std::vector<TaskId>> StepTasks::reap()
{
    std::map<int, std::vector<TaskId>> ended;
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        auto task = std::ranges::find(tasks_, pid, &ServedTask::pid);
        if (task == tasks_.end() || task->ended)
            continue; // an orphan
        task->ended = true;
        task->in.fd = OwnedFd();
        ended[status].push_back(task->task);
    }
    for (auto &[of_all, tasks] : ended)
        std::ranges::sort(tasks);
    return ended;
}

void StepTasks::kill_orphans() const
{
    std::vector<pid_t> alive;
    for (const ServedTask &task : tasks_)
        if (!task.ended)
            alive.push_back(task.pid);
    kill_other_children(alive);
}

std::size_t StepTasks::least_read(std::size_t input_end) const
{
    std::size_t least = input_end;
    for (const ServedTask &task : tasks_)
        if (task.in.fd)
            least = std::min(least, task.in.at);
    return least;
}

} // namespace bridge
