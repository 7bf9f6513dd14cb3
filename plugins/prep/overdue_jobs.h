// SPDX-License-Identifier: GPL-2.0-or-later
// Ends ordinary jobs that dirty nodes have kept waiting for GateTimeout: drains
// those nodes first, so that the job is not sent there again, and then requeues
// it. While a node cannot be drained, the job keeps waiting.
//
// Each step is an RPC to slurmctld and may take seconds, so there is a thread
// for it, which begins with the first such job. The job is requeued by an RPC
// that names its run and asks for a job that has not ended: a failed prolog
// would requeue a job that was cancelled meanwhile, too.
#pragma once

#include "plugins/prep/drain_retries.h"
#include "plugins/prep/gate.h"
#include "plugins/prep/slurmctld.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace bridge {

class OverdueJobs {
  public:
    // first_retry: how long after a failure an RPC is tried again; then twice
    // as long each time.
    OverdueJobs(Slurmctld &slurmctld, DrainRetries::Clock::duration first_retry)
        : slurmctld_(slurmctld), retries_(first_retry)
    {
    }
    ~OverdueJobs(); // only tests get here

    // Replaces what is to be done. An RPC that has begun is not interrupted.
    // Called by one thread.
    void set(std::vector<Gate::Overdue> jobs);

    // Returns the jobs that slurmctld cannot requeue, since set() named them:
    // their prologs have to fail.
    std::vector<JobRef> pop_refused();

  private:
    void run(const std::stop_token &stop);
    std::optional<Gate::Overdue> next(const std::stop_token &stop);
    void end(const Gate::Overdue &job);
    bool drain(const std::string &node);
    void requeue(JobRef job);
    bool wanted(JobRef job);

    Slurmctld &slurmctld_;
    std::mutex mutex_; // guards the members down to the next blank line
    std::condition_variable_any changed_;
    std::vector<Gate::Overdue> jobs_; // not tried yet since set()
    std::set<JobRef> wanted_;         // all of set()
    std::vector<JobRef> refused_;
    bool over_ = false;  // there was nothing left to do
    bool again_ = false; // set() has begun another round

    // Only used by the thread.
    DrainRetries retries_;          // of nodes, and of jobs as JobId=ID
    std::set<std::string> drained_; // in this round
    std::jthread thread_;           // last: it uses all of the above
};

} // namespace bridge
