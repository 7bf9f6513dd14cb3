// SPDX-License-Identifier: GPL-2.0-or-later
// The delay before each retry: it doubles with each failure in a row.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>

namespace bridge {

// Returns the delay doubled this many times, or the longest if that is shorter.
template <class Delay>
Delay doubled(Delay delay, Delay longest, unsigned times = 1)
{
    constexpr unsigned most = 63; // reaches the longest from any delay
    for (unsigned i = std::min(times, most); i > 0; i--)
        delay = std::min<Delay>(2 * delay, longest);
    return std::min(delay, longest);
}

// Adds a random part of up to the same length, so that agents that failed
// together do not retry together.
class Backoff {
  public:
    using Milliseconds = std::chrono::milliseconds;

    Backoff(Milliseconds first, Milliseconds longest)
        : first_(first), longest_(longest), next_(first)
    {
    }

    void reset() { next_ = first_; }

    template <class Random> Milliseconds next(Random &random)
    {
        std::uniform_real_distribution<double> more(1.0, 2.0);
        auto delay =
            std::chrono::duration_cast<Milliseconds>(next_ * more(random));
        next_ = doubled(next_, longest_);
        return std::min(delay, longest_);
    }

  private:
    Milliseconds first_;
    Milliseconds longest_;
    Milliseconds next_;
};

// Sleeps, but returns at once when a stop is requested. Returns whether none
// is.
inline bool wait_for(std::chrono::milliseconds delay,
                     const std::stop_token &stop)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, delay, [] { return false; });
    return !stop.stop_requested();
}

} // namespace bridge
