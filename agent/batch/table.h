// SPDX-License-Identifier: GPL-2.0-or-later
// The batch jobs that have a node and no Pod yet, as the owner thread knows
// them, with the time at which a Pod is to be made or tried again. Not safe to
// use from other threads.
#pragma once

#include "common/base/mailbox.h"
#include "common/contract/job_ref.h"

#include <map>
#include <optional>
#include <vector>

namespace bridge {

class BatchTable {
  public:
    // Adds a job that has a node and no Pod, due at that time. A job that is
    // already in the table keeps its state.
    void want(JobRef job, Clock::time_point due);

    // Removes a job that has ended, has its Pod, or has no node. Returns false
    // if it was not in the table. An attempt that is under way goes on, and no
    // other one begins before it is over.
    bool drop(JobRef job);

    // Returns the jobs that are due. They are not due again before finish().
    std::vector<JobRef> pop_due(Clock::time_point now);

    // Ends an attempt. dropped: the job was dropped during the attempt, whose
    // result does not matter any more. again: the job was dropped and wanted
    // again since, and is due.
    enum class Try { counts, dropped, again };
    Try finish(JobRef job);

    // Schedules another attempt after a failure, with growing delays. Returns
    // false when the failures have lasted longer than patience while others got
    // their Pods, or when the job is not in the table: what stops all jobs is
    // not the fault of one. If pause is given, the next attempt comes no sooner
    // than that; it doubles each time, up to eight times its value.
    bool retry(JobRef job, Clock::time_point now, Clock::duration patience,
               Clock::duration pause = {});

    // Notes that an attempt has found no script, or that it has got further.
    void note_script(JobRef job, Clock::time_point now, bool missing);
    // Returns whether the script has been missing for longer than patience.
    bool is_missing(JobRef job, Clock::time_point now,
                    Clock::duration patience) const;

    // Returns whether the attempts have failed for longer than patience.
    bool is_late(JobRef job, Clock::time_point now,
                 Clock::duration patience) const;

    // Schedules another attempt of a job that could not be tried now.
    void postpone(JobRef job, Clock::time_point now);

    // Schedules another attempt, a minute later, of a job that this release
    // does not understand. However long that lasts, the job waits.
    void wait_for_upgrade(JobRef job, Clock::time_point now);
    // Returns whether there is such a job.
    bool awaits_upgrade() const;

    // Notes that some job got its Pod.
    void record_made(Clock::time_point now) { made_ = now; }

    // Returns whether any job has failed for longer than patience. It is not
    // known whether that is the job's own fault.
    bool is_stuck(Clock::time_point now, Clock::duration patience) const;

    Clock::time_point next_due() const;

  private:
    struct Entry {
        Clock::time_point due;
        std::optional<Clock::time_point> failing{}; // since then
        std::optional<Clock::time_point> missing{}; // its script, since then
        bool in_flight = false;
        bool dropped = false; // while in flight
        bool wanted = false;  // wanted again after that
        unsigned failures = 0;
        unsigned pauses = 0;
        bool newer = false; // waits for an upgrade
    };
    using Since = std::optional<Clock::time_point> Entry::*;
    bool lasts(JobRef job, Since since, Clock::time_point now,
               Clock::duration patience) const;

    std::map<JobRef, Entry> jobs_;
    std::optional<Clock::time_point> made_; // when a Pod was last made
};

} // namespace bridge
