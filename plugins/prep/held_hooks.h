// SPDX-License-Identifier: GPL-2.0-or-later
// The gate and the hints about it that wait to be sent, shared by slurmctld's
// threads (hooks) and the link's thread. Every call takes one short mutex and
// never waits for anything else.
//
// What the queue holds can be read from the gate again: it is made anew after
// each connect. When it is full a hint is dropped and counted, and queued once
// there is room.
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
        bool news = false; // there is a message or a Release to take
    };
    Outcome prolog(const JobFacts &facts);
    Outcome epilog(const JobFacts &facts);

    // start, fail, clean, bridge, synced; other messages do nothing.
    void obey(const HookMessage &message);

    std::vector<Release> take_due();

    // See Gate. remember() does nothing once a hook has run or the agent has
    // spoken: what the file says is older than that.
    void remember(GateMemory memory);
    bool untouched();
    GateMemory memory();
    void give_up_unknown(Gate::Clock::duration timeout);
    std::vector<Gate::Overdue> overdue(Gate::Clock::duration timeout);
    void fail(JobRef job, int rc);

    // Queues all that is unfinished, and nothing else: for a new connection,
    // whose agent begins its lists anew.
    void refill();

    // The oldest hint that is still true.
    std::optional<HookMessage> next_message();

    // How many hints found the queue full, once it is empty; counts anew, and
    // queues those of them that are still true.
    std::size_t take_dropped();

  private:
    void enqueue(const Hold &hold);
    void queue_untold();

    std::mutex mutex_; // of all below
    Gate gate_;
    std::deque<Hold> queue_;
    const std::size_t queue_limit_;
    std::size_t dropped_ = 0;
    bool touched_ = false; // by a hook or by the agent
};

} // namespace bridge
