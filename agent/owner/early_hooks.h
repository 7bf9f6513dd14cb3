// SPDX-License-Identifier: GPL-2.0-or-later
// Hooks that slurmctld's plugin holds for jobs that are not the current job of
// any gang: the answer to their submit is still outstanding, or they were
// replaced. Releases those that nobody needs any more. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/context.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/plugin_line.h"

#include <map>
#include <optional>

namespace bridge {

class EarlyHooks {
  public:
    EarlyHooks(const Context &context, const PluginLine &line, JobLists &lists,
               const GangStore &gangs, const KnownNodes &nodes)
        : context_(context), line_(line), lists_(lists), gangs_(gangs),
          nodes_(nodes)
    {
    }

    void put(HookMessage hook);
    void drop(JobRef job) { hooks_.erase(job); }
    // Returns the hook of this job, which has a gang now.
    std::optional<HookMessage> take(JobRef job);
    // The plugin repeats all held hooks when it connects again.
    void clear() { hooks_.clear(); }

    // Releases held epilogs of jobs that nobody needs any more. A held prolog
    // without a gang means a job that the agent does not know, so the jobs are
    // listed.
    void settle();

  private:
    struct Early {
        HookMessage message;
        Clock::time_point since;
    };

    bool has_successor(JobRef job) const;

    const Context &context_;
    const PluginLine &line_;
    JobLists &lists_;
    const GangStore &gangs_;
    const KnownNodes &nodes_;
    std::map<JobRef, Early> hooks_;
};

} // namespace bridge
