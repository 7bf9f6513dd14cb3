// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/task_queue.h"

#include <utility>

namespace bridge {

void TaskQueue::push(Task task, const std::string &lane)
{
    {
        std::lock_guard lock(mutex_);
        auto [known, added] = lanes_.try_emplace(lane);
        known->second.push_back(std::move(task));
        if (added)
            turns_.push_back(lane);
        size_++;
    }
    filled_.notify_one();
}

std::optional<Task> TaskQueue::pop()
{
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || size_ != 0; });
    if (size_ == 0)
        return std::nullopt;
    std::string lane = std::move(turns_.front());
    turns_.pop_front();
    auto known = lanes_.find(lane);
    std::optional<Task> first(std::move(known->second.front()));
    known->second.pop_front();
    size_--;
    if (known->second.empty())
        lanes_.erase(known);
    else
        turns_.push_back(std::move(lane));
    return first;
}

void TaskQueue::close()
{
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    filled_.notify_all();
}

std::size_t TaskQueue::size()
{
    std::lock_guard lock(mutex_);
    return size_;
}

} // namespace bridge
