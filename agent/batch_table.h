// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that have a node and no Pod yet, as the owner thread knows them: for
// which of them a Pod is to be made now, or again. Not safe from other threads.
#pragma once

#include "agent/mailbox.h"
#include "common/job_ref.h"

#include <map>
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
    // than patience, or the job is not known any more.
    bool retry(JobRef job, Clock::time_point now, Clock::duration patience);

    Clock::time_point next_due() const;

  private:
    struct Entry {
        Clock::time_point since;
        Clock::time_point due;
        bool in_flight = false;
        unsigned failures = 0;
    };
    std::map<JobRef, Entry> jobs_;
};

} // namespace bridge
