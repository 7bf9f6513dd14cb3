// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/task_queue.h"

#include <utility>

namespace bridge {

void TaskQueue::push(Task task, const std::string &lane)
{
    {
        std::lock_guard lock(mutex_);
        auto known = lanes_.find(lane);
        if (known != lanes_.end()) {
            known->second.push_back(std::move(task));
        } else { // as a whole, or not at all
            Lanes made;
            made[lane].push_back(std::move(task));
            if (!lane.empty())
                turns_.push_back(lane);
            lanes_.merge(made);
        }
        size_++;
    }
    filled_.notify_one();
}

// Requires a task.
TaskQueue::Lanes::iterator TaskQueue::next_lane()
{
    auto common = lanes_.find({});
    common_is_next_ |= turns_.empty();
    if (std::exchange(common_is_next_, !common_is_next_) &&
        common != lanes_.end())
        return common;
    std::string lane = std::move(turns_.front());
    turns_.pop_front();
    auto next = lanes_.find(lane);
    if (next->second.size() > 1)
        turns_.push_back(std::move(lane));
    return next;
}

std::optional<Task> TaskQueue::pop()
{
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || size_ != 0; });
    if (size_ == 0)
        return std::nullopt;
    auto lane = next_lane();
    std::optional<Task> first(std::move(lane->second.front()));
    lane->second.pop_front();
    size_--;
    if (lane->second.empty())
        lanes_.erase(lane);
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
