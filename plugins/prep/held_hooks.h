// SPDX-License-Identifier: GPL-2.0-or-later
// The gate, and the queue of hints about it for the agent. Shared by
// slurmctld's threads (hooks) and the link's thread. Every call takes one mutex
// for a short time and waits for nothing else.
//
// The queue can always be rebuilt from the gate, and is rebuilt after each
// connect. If it is full, a hint is dropped and counted; it is queued again
// when there is room.
#pragma once

#include "common/contract/hook_message.h"
#include "plugins/prep/gate.h"

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace bridge {

class HeldHooks {
  public:
    HeldHooks(Gate::Expand expand, std::size_t queue_limit)
        : gate_(std::move(expand)), queue_limit_(queue_limit)
    {
    }

    struct Outcome {
        bool held = false; // slurmctld must wait for the Release
        bool news = false; // there is a message or Release to take
    };
    Outcome prolog(const JobFacts &facts);
    Outcome epilog(const JobFacts &facts);

    // Handles start, fail, clean, bridge, synced and unprotected; ignores other
    // messages.
    void obey(const HookMessage &message);

    // The next callback that slurmctld must get.
    std::optional<Release> pop_due();

    // See Gate. Untouched: no hook and no message of the agent came, so that
    // there is nothing to write down.
    void remember(GateMemory memory);
    void remember_nothing();
    bool untouched();
    std::optional<GateMemory> memory();
    void drop_all(); // afterwards it is untouched
    void begin_doubt();
    void end_doubt(bool new_term);
    void give_up_unknown(Gate::Clock::duration timeout);
    void give_up_protection();
    std::optional<Gate::Clock::time_point> next_unprotected();
    std::vector<Gate::Overdue> overdue(Gate::Clock::duration timeout);
    void fail(JobRef job, int rc);

    // Rebuilds the queue from all held hooks, for a new connection whose agent
    // sends its lists from the beginning.
    void refill();

    // Returns the oldest hint that is still true.
    std::optional<HookMessage> next_message();

    // Returns how many hints were dropped, but only when the queue is empty.
    // Resets the count and queues those that are still true.
    std::size_t pop_dropped();

  private:
    void enqueue(const Hold &hold);
    void queue_untold();

    std::mutex mutex_; // guards all members below
    Gate gate_;
    std::deque<Hold> queue_;
    const std::size_t queue_limit_;
    std::size_t dropped_ = 0;
    bool touched_ = false; // a hook or a message of the agent came
};

} // namespace bridge
