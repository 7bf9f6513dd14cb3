// SPDX-License-Identifier: GPL-2.0-or-later
// The delay before each retry. It doubles with each failure in a row, and a
// random part of up to the same length is added, so that agents that failed
// together do not retry together.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>

namespace bridge {

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
        next_ = std::min(next_ * 2, longest_);
        return std::min(delay, longest_);
    }

  private:
    Milliseconds first_;
    Milliseconds longest_;
    Milliseconds next_;
};

// Sleeps, but returns at once when a stop is requested.
inline void wait_for(std::chrono::milliseconds delay,
                     const std::stop_token &stop)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, delay, [] { return false; });
}

} // namespace bridge
