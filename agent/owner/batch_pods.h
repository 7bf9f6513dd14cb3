// SPDX-License-Identifier: GPL-2.0-or-later
// The Pods of batch jobs: what decide() must know of them that follows from
// their job, from the last list of jobs and from the time that has passed.
// Owner thread only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/batch_end_times.h"
#include "agent/owner/batch_hosts.h"
#include "agent/owner/batch_tidy.h"
#include "agent/owner/context.h"
#include "agent/owner/job_lists.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class BatchPods {
  public:
    BatchPods(Context &context, const Errands &errands, Agenda &agenda,
              JobLists &lists, GangStore &gangs, BatchCaches &caches)
        : context_(context), agenda_(agenda), lists_(lists), gangs_(gangs),
          tidy_(context, errands, gangs, caches),
          ends_(context, errands, agenda),
          hosts_(context, errands, agenda, caches)
    {
    }

    // Takes the complete list of jobs that was just loaded.
    void take(const std::vector<Job> &jobs);

    // Does what is due for the gang's Pods: has what they leave removed, and
    // gives bindings up. Returns what decide() must know of them. Requires that
    // gang.batch is set.
    BatchFacts update(GangEntry &entry);

    // Deletes what the gang's Pods leave behind. When that is tried again:
    // next_due(), by process().
    void clean_up(const Gang &gang) { tidy_.clean_up(gang); }
    Clock::time_point next_due() const { return tidy_.retry_due(); }
    void process();

    // uid is that of a Pod, whose Secret is deleted with it, or of a gang.
    void forget(const std::string &uid);

  private:
    std::string start_failure_reason(GangEntry &entry);
    bool has_lost_script(GangEntry &entry);
    bool is_gone(GangEntry &entry, const BatchMark &mark);
    bool is_scattered(const Gang &gang) const;

    Context &context_;
    Agenda &agenda_;
    JobLists &lists_;
    GangStore &gangs_;
    BatchTidy tidy_;
    BatchEndTimes ends_;
    BatchHosts hosts_;
    // The batch jobs that live, and their script files, by the list that was
    // requested then.
    std::set<JobRef> living_;
    std::set<std::string> scripts_;
    Clock::time_point listed_{};
    // By gang uid: since when its Pods have waited for a job, or to be started.
    std::map<std::string, Clock::time_point> waits_;
    std::map<std::string, Clock::time_point> starts_;
};

} // namespace bridge
