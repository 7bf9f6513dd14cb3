// SPDX-License-Identifier: GPL-2.0-or-later
// A queue between threads: many push, one or more pop. What the threads share
// they hand over here.
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
    // From any thread; never blocks for long.
    void push(T message)
    {
        {
            std::lock_guard lock(mutex_);
            queue_.push_back(std::move(message));
        }
        filled_.notify_one();
    }

    // The oldest message; nothing when none came until the deadline, or when
    // the mailbox is closed and empty.
    std::optional<T> pop_until(Clock::time_point deadline)
    {
        std::unique_lock lock(mutex_);
        filled_.wait_until(lock, deadline,
                           [&] { return closed_ || !queue_.empty(); });
        return take();
    }

    // Waits for as long as it takes; nothing once it is closed and empty.
    std::optional<T> pop()
    {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [&] { return closed_ || !queue_.empty(); });
        return take();
    }

    // Wakes everybody who waits, now and from now on.
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
    std::optional<T> take() // mutex_ is held
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
