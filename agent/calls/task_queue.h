// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks for worker threads, in lanes: each namespace has its own, so that
// thousands of tasks of one do not delay those of another. Any thread may add
// and take tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace bridge {

class Kube;

using Task = std::function<void(Kube &)>;

class TaskQueue {
  public:
    // lane: the namespace that the task serves, or "" for what serves no single
    // one. Never blocks for long.
    void push(Task task, const std::string &lane = {});

    // Returns the oldest task of the lane whose turn it is, and waits for one
    // without a time limit. Lanes take turns, a task each, and that of no
    // single namespace has every second turn. Nothing once the queue is closed
    // and empty.
    std::optional<Task> pop();

    // Wakes every waiting thread; later calls of pop() do not wait any more.
    void close();

    std::size_t size();

  private:
    using Lanes = std::map<std::string, std::deque<Task>>;
    Lanes::iterator next_lane();

    std::mutex mutex_;
    std::condition_variable filled_;
    // By lane; none is empty, and each but "" stands in turns_ once.
    Lanes lanes_;
    std::deque<std::string> turns_;
    bool common_is_next_ = true; // the lane ""
    std::size_t size_ = 0;
    bool closed_ = false;
};

} // namespace bridge
