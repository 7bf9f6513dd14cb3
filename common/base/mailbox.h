// SPDX-License-Identifier: GPL-2.0-or-later
// A thread-safe queue: many threads push, one or more pop. Threads hand their
// shared data to each other through it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace bridge {

using Clock = std::chrono::steady_clock;

template <class T> class Mailbox {
  public:
    // May be called by any thread; never blocks for long.
    void push(T message)
    {
        {
            std::lock_guard lock(mutex_);
            queue_.push_back(std::move(message));
        }
        filled_.notify_one();
    }

    // Returns the oldest message. Nothing if none arrives before the deadline,
    // or if the mailbox is closed and empty.
    std::optional<T> pop_until(Clock::time_point deadline)
    {
        std::unique_lock lock(mutex_);
        filled_.wait_until(lock, deadline,
                           [&] { return closed_ || !queue_.empty(); });
        return take();
    }

    // Returns the oldest message and waits for one without a time limit.
    // Nothing once the mailbox is closed and empty.
    std::optional<T> pop()
    {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [&] { return closed_ || !queue_.empty(); });
        return take();
    }

    // Wakes every waiting thread; later calls of pop() do not wait any more.
    void close()
    {
        {
            std::lock_guard lock(mutex_);
            closed_ = true;
        }
        filled_.notify_all();
    }

    std::size_t size()
    {
        std::lock_guard lock(mutex_);
        return queue_.size();
    }

  private:
    std::optional<T> take() // mutex_ must be held
    {
        if (queue_.empty())
            return std::nullopt;
        std::optional<T> first(std::move(queue_.front()));
        queue_.pop_front();
        return first;
    }

    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<T> queue_;
    bool closed_ = false;
};

} // namespace bridge
