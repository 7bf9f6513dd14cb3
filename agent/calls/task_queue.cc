// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/task_queue.h"

#include <memory>
#include <utility>

namespace bridge {

void TaskQueue::push(Task task, const std::string &lane)
{
    {
        std::lock_guard lock(mutex_);
        Lanes made; // as a whole, or not at all
        if (!lanes_.contains(lane)) {
            if (std::list<std::string> &turn = made[lane].turn; !lane.empty())
                turn.push_back(lane);
        }
        auto known = made.empty() ? lanes_.find(lane) : made.begin();
        known->second.tasks.push_back(std::move(task));
        lanes_.merge(made);
        line_up(known->second);
        size_++;
    }
    filled_.notify_one();
}

// Gives the lane a turn behind all others if it has none and a task of it may
// begin. Returns whether it did.
bool TaskQueue::line_up(Lane &lane)
{
    if (lane.tasks.empty() || lane.running >= most_of_lane_ ||
        lane.turn.empty())
        return false;
    turns_.splice(turns_.end(), lane.turn);
    return true;
}

bool TaskQueue::any_eligible() const
{
    auto common = lanes_.find({});
    return !turns_.empty() ||
           (common != lanes_.end() && !common->second.tasks.empty());
}

// Requires a task that may begin.
TaskQueue::Lanes::iterator TaskQueue::next_lane()
{
    auto common = lanes_.find({});
    common_is_next_ |= turns_.empty();
    if (std::exchange(common_is_next_, !common_is_next_) &&
        common != lanes_.end() && !common->second.tasks.empty())
        return common;
    auto next = lanes_.find(turns_.front());
    next->second.turn.splice(next->second.turn.end(), turns_, turns_.begin());
    return next;
}

// A task that a thread has taken, until it is destroyed.
struct TaskQueue::Running {
    TaskQueue *queue = nullptr;
    Lanes::iterator lane{};
    Task task{};

    ~Running()
    {
        if (queue)
            queue->done(lane);
    }
};

std::optional<Task> TaskQueue::pop()
{
    auto running = std::make_shared<Running>();
    Task first = [running](Kube &kube) { running->task(kube); };
    std::unique_lock lock(mutex_);
    filled_.wait(lock,
                 [&] { return (closed_ && size_ == 0) || any_eligible(); });
    if (size_ == 0)
        return std::nullopt;
    auto at = next_lane();
    Lane &lane = at->second;
    running->task = std::move(lane.tasks.front());
    running->lane = at;
    running->queue = this;
    lane.tasks.pop_front();
    lane.running++;
    size_--;
    line_up(lane);
    if (closed_ && size_ == 0)
        filled_.notify_all();
    return first;
}

void TaskQueue::done(Lanes::iterator at)
{
    std::lock_guard lock(mutex_);
    Lane &lane = at->second;
    lane.running--;
    if (lane.running == 0 && lane.tasks.empty())
        lanes_.erase(at);
    else if (line_up(lane) && !closed_)
        filled_.notify_one();
    if (closed_) // who is done may not come back for another
        filled_.notify_all();
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
