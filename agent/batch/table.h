// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that have a node and no Pod yet, as the owner thread knows them:
// for which of them a Pod is to be made now, or again. Not safe from other
// threads.
#pragma once

#include "common/base/mailbox.h"
#include "common/contract/job_ref.h"

#include <map>
#include <optional>
#include <vector>

namespace bridge {

class BatchTable {
  public:
    // The job has a node and no Pod, and is due then: what is known already
    // stays as it is.
    void want(JobRef job, Clock::time_point due);

    // It has ended, or has its Pod, or no node. False: it was not known any
    // more. A try that is under way goes on, and no other begins before it is
    // over.
    bool drop(JobRef job);

    // Those that are due; they are not due again before finish().
    std::vector<JobRef> take_due(Clock::time_point now);

    // A try is over. Of a job that was dropped during it, it says nothing any
    // more; again: the job is wanted since, and due.
    enum class Try { counts, dropped, again };
    Try finish(JobRef job);

    // It failed: again, later each time. False when that has gone on for longer
    // than patience while others got their Pods, or the job is not known any
    // more: what stops all of them is no fault of one. Not before pause, if
    // there is one, which doubles each time.
    bool retry(JobRef job, Clock::time_point now, Clock::duration patience,
               Clock::duration pause = {});

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
        bool dropped = false; // while in flight
        bool wanted = false;  // after that
        unsigned failures = 0;
        unsigned pauses = 0;
    };
    std::map<JobRef, Entry> jobs_;
    std::optional<Clock::time_point> made_; // last
};

} // namespace bridge
