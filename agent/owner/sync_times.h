// SPDX-License-Identifier: GPL-2.0-or-later
// When Slurm's nodes are compared with Kubernetes': soon after a change of
// either, and from time to time. One comparison at a time; what changes
// meanwhile is for the next one. Owner thread only.
#pragma once

#include "agent/owner/context.h"

#include <algorithm>

namespace bridge {

class SyncTimes {
  public:
    explicit SyncTimes(const Context &context) : context_(context) {}

    // Something has changed that cannot wait: compare at once.
    void sync_now();
    // Compare by then.
    void sync_by(Clock::time_point when);
    // Compare then or before, and nothing else waits for that.
    void sync_at(Clock::time_point when) { later_ = std::min(later_, when); }
    // Compare after this pause, unless a comparison is wanted before.
    void retry_in(Clock::duration pause);
    // Something has changed that can wait: compare once the pause after the
    // last comparison is over.
    void sync_when_due() { changed_ = true; }

    // When the next comparison is due; never while one is under way.
    Clock::time_point next() const;

    // A comparison begins. Returns whether it is because of a change.
    bool begin();
    // It is over, and has failed or not.
    void failed(Clock::duration pause);
    void succeeded();

  private:
    void end();
    void rest_until(Clock::time_point when);

    const Context &context_;
    bool changed_ = true;
    bool under_way_ = false;
    Clock::time_point due_{};
    Clock::time_point later_ = Clock::time_point::max(); // sync_at()
    Clock::time_point poll_due_{}; // when Slurm's nodes are looked at again
    Clock::time_point began_{};
};

} // namespace bridge
