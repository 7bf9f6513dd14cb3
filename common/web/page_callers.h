// SPDX-License-Identifier: GPL-2.0-or-later
// The connections of a page server: those that wait for a thread, whose number
// is limited, and those that a thread serves. While others wait for a thread,
// the oldest connection that a thread waits for is ended, so that callers who
// send or read slowly keep no others out. Safe to use from every thread.
#pragma once

#include "common/base/fd_wait.h"

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <stop_token>

namespace bridge {

class PageCallers {
  public:
    using Clock = std::chrono::steady_clock;

    // Limit on connections that wait for a thread.
    static constexpr std::size_t most_queued = 64;

    explicit PageCallers(std::size_t threads) : threads_(threads) {}

    // Counts a connection that needs a thread. Returns false when too many wait
    // for one already.
    bool enqueue();
    // The connection is not served after all.
    void drop_queued();

    // A connection that was counted and has a thread now. Must end before the
    // descriptor is closed.
    class Served {
      public:
        Served(PageCallers &all, int fd);
        Served(Served &&) = delete;
        ~Served();

        // Waits for the caller. Returns false when the time is up, or when the
        // server stops. The descriptor is shut down when others need the
        // thread; that counts as an event.
        bool wait(short events, Clock::time_point until);

      private:
        friend PageCallers;

        PageCallers &all_;
        const int fd_;
        bool waits_ = false; // this and the next: protected by all_.mutex_
        bool ended_ = false;
        std::list<Served *>::iterator place_;
    };

    // Ends all waits.
    void stop() { stop_.request_stop(); }

  private:
    void make_room();

    const std::size_t threads_;
    std::stop_source stop_;
    std::mutex mutex_; // protects all below
    std::size_t queued_ = 0;
    std::list<Served *> served_; // oldest first
};

} // namespace bridge
