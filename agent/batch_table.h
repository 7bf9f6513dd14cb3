// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that have a node and no Pod yet, as the owner thread knows them: for
// which of them a Pod is to be made now, or again. Not safe from other threads.
#pragma once

#include "agent/mailbox.h"
#include "common/job_ref.h"

#include <map>
#include <optional>
#include <vector>

namespace bridge {

class BatchTable {
  public:
    // The job has a node and no Pod: what is known already stays as it is.
    void want(JobRef job, Clock::time_point now);

    // It has ended, or has its Pod. False: it was not known any more.
    bool drop(JobRef job) { return jobs_.erase(job) != 0; }

    // Those that are due; they are not due again before retry().
    std::vector<JobRef> take_due(Clock::time_point now);

    // It failed: again, later each time. False when that has gone on for longer
    // than patience while others got their Pods, or the job is not known any
    // more: what stops all of them is no fault of one.
    bool retry(JobRef job, Clock::time_point now, Clock::duration patience);

    // It fails for longer than patience.
    bool is_late(JobRef job, Clock::time_point now,
                 Clock::duration patience) const;

    // It could not be tried: again, after a while.
    void hold(JobRef job, Clock::time_point now);

    // Some job got its Pod.
    void note_made(Clock::time_point now) { made_ = now; }

    // One fails for longer than patience, and nobody can say whether by its own
    // fault.
    bool is_stuck(Clock::time_point now, Clock::duration patience) const;

    Clock::time_point next_due() const;

  private:
    struct Entry {
        Clock::time_point due;
        std::optional<Clock::time_point> failing{}; // since then
        bool in_flight = false;
        unsigned failures = 0;
    };
    std::map<JobRef, Entry> jobs_;
    std::optional<Clock::time_point> made_; // last
};

} // namespace bridge
