// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks for worker threads, in lanes: each namespace has its own, so that
// thousands of tasks of one do not delay those of another, and tasks of one
// that take long do not have all threads. Any thread may add and take tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace bridge {

class Kube;

using Task = std::function<void(Kube &)>;

class TaskQueue {
  public:
    // most_of_lane: how many tasks of one namespace may run at a time.
    explicit TaskQueue(std::size_t most_of_lane = SIZE_MAX)
        : most_of_lane_(most_of_lane)
    {
    }

    // lane: the namespace that the task serves, or "" for what serves no single
    // one. Never blocks for long.
    void push(Task task, const std::string &lane = {});

    // Returns the oldest task of the lane whose turn it is, and waits for one
    // without a time limit. Lanes take turns, a task each, and that of no
    // single namespace has every second turn. Nothing once the queue is closed
    // and empty. The task counts as running until it is destroyed, which must
    // be before the queue is.
    std::optional<Task> pop();

    // Wakes every waiting thread; later calls of pop() wait only while all
    // tasks that are left are of lanes with as many as may run.
    void close();

    std::size_t size();

  private:
    struct Lane {
        std::deque<Task> tasks;
        std::size_t running = 0;
        // Its name, while it has no turn; else the name stands in turns_. So
        // nothing is allocated when turns change. Never there for "".
        std::list<std::string> turn;
    };
    using Lanes = std::map<std::string, Lane>;
    struct Running;
    Lanes::iterator next_lane();
    bool line_up(Lane &lane);
    void done(Lanes::iterator at);
    bool any_eligible() const;

    const std::size_t most_of_lane_;
    std::mutex mutex_;
    std::condition_variable filled_;
    Lanes lanes_;                  // those with tasks that wait or run
    std::list<std::string> turns_; // lanes of which a task may begin
    bool common_is_next_ = true;   // the lane ""
    std::size_t size_ = 0;
    bool closed_ = false;
};

} // namespace bridge
