// SPDX-License-Identifier: GPL-2.0-or-later
// Batch jobs that have nodes and no Pods yet: has their Pods made by workers,
// and says what becomes of an attempt. Once a job has its Pods, it is a gang
// like any other, and not its concern any more. Owner thread only.
#pragma once

#include "agent/batch/table.h"
#include "agent/gang/store.h"
#include "agent/owner/batch_caches.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/grace_limits.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/plugin_line.h"

#include <optional>
#include <string>

namespace bridge {

class BatchJobs {
  public:
    BatchJobs(Context &context, const Errands &errands, const PluginLine &line,
              const GraceLimits &grace, const KnownNodes &nodes,
              GangStore &gangs, BatchCaches &caches)
        : context_(context), errands_(errands), line_(line), grace_(grace),
          nodes_(nodes), gangs_(gangs), caches_(caches)
    {
    }

    // A job has a node and no Pod; its Pods are due now, or once slurmctld has
    // saved what was written to it.
    void want(JobRef job) { table_.want(job, context_.now); }
    void want_once_saved(JobRef job);
    // It has ended, or has no node.
    void drop(JobRef job) { table_.drop(job); }

    Clock::time_point next_due() const { return table_.next_due(); }
    // Begins the attempts that are due; each is answered by BatchPodMade.
    void process();

    // A job whose Pods are made. lives: it had not ended by then.
    struct Made {
        Job job;
        bool lives = false;
    };
    // Takes the result of an attempt; nothing if no job has got its Pods by it.
    std::optional<Made> take(BatchPodMade &made);

  private:
    void say_problems();
    void attempt(JobRef job, BatchContext context);
    void failed(JobRef job, const Error &error);
    void fail_job(JobRef job, const std::string &reason) const;
    BatchContext context_for_workers() const;
    SrunContext srun_context() const;

    Context &context_;
    const Errands &errands_;
    const PluginLine &line_;
    const GraceLimits &grace_;
    const KnownNodes &nodes_;
    GangStore &gangs_;
    BatchCaches &caches_;
    BatchTable table_;
};

} // namespace bridge
