// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the Lease, renews it, and reports when it is lost. It alone grants and
// revokes the permit to write. A process that has lost the Lease must end,
// because what it knows may be out of date. Used by one thread, that of
// LeaseThread.
#pragma once

#include "agent/calls/write_gate.h"
#include "agent/daemon/lease.h"
#include "agent/daemon/permit.h"
#include "agent/owner/news.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace bridge {

class LeaseKeeper {
  public:
    struct Events {
        std::function<void()> acquired;      // called once: begin to act
        std::function<void(LeaseNews)> news; // called on each change
        // Called once; after that nothing is permitted any more.
        std::function<void(const std::string &reason)> ended;
    };

    struct Parts {
        LeaseStore &store;
        Permit &permit;
        std::function<Control()> control; // may block for a moment
        std::function<BootClock::time_point()> now = BootClock::now;
    };

    LeaseKeeper(Parts parts, LeaseHolder us, Events events);

    // Checks the Lease once; due every lease_interval. Blocks for two requests
    // at most.
    void step();

    // Gives the Lease back, if it is ours, so that another agent need not wait.
    // Call it after the last write of the process.
    void give_back();

    bool ended() const { return ended_; }

  private:
    void handle_record(const LeaseRecord &record, BootClock::time_point now);
    void write(const LeaseRecord &record, BootClock::time_point now);
    void confirm(const LeaseRecord &record);
    void wait_for_turn(const LeaseRecord &record, Control control);
    void trouble(const Error &error);
    void end(const std::string &reason);
    void publish(LeaseNews news);

    Parts parts_;
    const LeaseHolder us_;
    const Events events_;
    LeaseRecord record_; // as last read or written
    LeaseWatch watch_;
    std::string sent_; // the time in the last record that we sent
    BootClock::time_point sent_at_{};
    LeaseNews told_;
    bool told_any_ = false;
    bool holding_ = false;            // this agent has begun to act
    std::atomic<bool> ended_ = false; // also read by the main thread
    bool read_again_ = true;
};

// Calls step() until the keeper has ended.
class LeaseThread {
  public:
    explicit LeaseThread(LeaseKeeper &keeper);

    void stop(); // waits for the thread; leaves the Lease as it is

  private:
    void run(std::stop_token stop);

    LeaseKeeper &keeper_;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
