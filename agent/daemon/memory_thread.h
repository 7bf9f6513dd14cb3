// SPDX-License-Identifier: GPL-2.0-or-later
// Gives memory that is free back to the system. malloc() keeps the pages of
// whatever was freed between things that are still in use, so that a process
// that reads lists of thousands of Nodes, Pods and jobs stays as large as at
// its largest moment (mallopt(3), malloc_trim(3)).
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <thread>

namespace bridge {

// When to do it: as soon as the process is larger than it was at its least of
// the last minute, and each minute, since what was in use may be free by now.
// Each time costs milliseconds in which threads that allocate wait. Pure.
class MemoryPace {
  public:
    using Time = std::chrono::steady_clock::time_point;

    // size: what the process has in memory, in bytes.
    bool is_due(std::size_t size, Time now) const;

    // Takes the size just after memory was given back. What was in use at that
    // moment, such as a list, may have been the most of it.
    void given_back(std::size_t size, Time now);

  private:
    std::size_t least_ = 0;
    Time since_{}; // of that minute
};

// Looks each few seconds, on a thread of its own, as long as this exists.
class MemoryThread {
  public:
    MemoryThread();

  private:
    void run(const std::stop_token &stop);

    MemoryPace pace_;
    std::jthread thread_; // last: it uses the above
};

} // namespace bridge
