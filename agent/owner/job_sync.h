// SPDX-License-Identifier: GPL-2.0-or-later
// What the lists of Slurm's jobs, and of their states, change: which job a gang
// has, which jobs have to be read again, and which are ended because a gang has
// two. JobLists says when these lists are made. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/adoptions.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/het_jobs.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/voice.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

class JobSync {
  public:
    struct Parts {
        const Errands &errands;
        Agenda &agenda;
        const PluginLine &line;
        const JobLists &lists;
        Voice &voice;
        GangStore &gangs;
        GangJobs &jobs;
        const HetJobs &het;
        const Adoptions &adoptions;
    };
    JobSync(Context &context, const Parts &parts)
        : context_(context), to_(parts)
    {
    }

    // The jobs of gangs, of a list that had these jobs in all.
    void take(std::vector<Job> jobs, const std::set<JobRef> &listed);
    // The states of all jobs.
    void take(const std::vector<JobStateHint> &states);

  private:
    GangEntry *entry_for(const std::string &uid, std::vector<Job> &jobs);
    void update(const std::string &uid, std::vector<Job> &jobs);
    void update_current(GangEntry &entry, Job &listed) const;
    void set_first(GangEntry &entry, std::vector<Job> &jobs);
    void cancel_duplicate(const Gang &gang, const Job &job, JobRef ref) const;
    void settle_uncertain(GangEntry &entry) const;

    Context &context_;
    const Parts to_;
};

} // namespace bridge
