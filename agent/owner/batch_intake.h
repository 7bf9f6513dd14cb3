// SPDX-License-Identifier: GPL-2.0-or-later
// How jobs of sbatch become gangs. Such a job exists before its Pods: once it
// has its nodes, a worker thread makes the Pods and writes their uid into the
// job's tag; from then on the job is a gang like any other. It has no state.
// Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/agenda.h"
#include "agent/owner/batch_jobs.h"
#include "agent/owner/context.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/het_jobs.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/plugin_line.h"

#include <map>

namespace bridge {

class BatchIntake {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        const PluginLine &line;
        JobLists &lists;
        GangStore &gangs;
        GangJobs &gang_jobs;
        HetJobs &het_jobs;
        BatchJobs &batch_jobs;
    };
    explicit BatchIntake(const Parts &parts) : to_(parts) {}

    // Returns true if this listed job does not belong to a gang yet. bound: the
    // tags that Pods have of the jobs that bound them.
    bool register_job(Job &job, const std::map<JobRef, GangTag> &bound);
    // The Pods of a job are made.
    void take(BatchPodMade &news);
    // The tag shows that the gang's job has no Pod any more.
    void remade(GangEntry &entry, JobRef job);

  private:
    const Parts to_;
};

} // namespace bridge
