// SPDX-License-Identifier: GPL-2.0-or-later
// Which job a gang has, and which of that job's hooks slurmctld's plugin holds.
// It alone gives a gang another job, and says when its hooks are released. A
// hook that comes before its gang has that job is kept (EarlyHooks). Owner
// thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/early_hooks.h"
#include "agent/owner/plugin_line.h"

#include <optional>

namespace bridge {

class GangJobs {
  public:
    struct Parts {
        Agenda &agenda;
        const PluginLine &line;
        EarlyHooks &early;
        GangStore &gangs;
    };
    GangJobs(const Context &context, const Parts &parts)
        : context_(context), to_(parts)
    {
    }

    // Gives the gang this job, or none, with the hooks that came before.
    void set(GangEntry &entry, std::optional<Job> job);
    // Takes the job from the gang, since it gets other Pods. The plugin does
    // not repeat that its prolog is held, so that is kept.
    void give_back(GangEntry &entry, JobRef job);

    // The plugin holds the prolog of a job of ours. Returns whether a gang has
    // that job.
    bool allocated(const HookMessage &hook);
    // It holds the epilog. all_known: everything is listed, so that a job
    // without a gang has no Pods either.
    void ended(const HookMessage &hook, bool all_known);
    // The plugin is gone; it repeats all held hooks when it connects again.
    void forget_hooks();

    // Releases the prolog of the gang's job, or its epilog.
    void start(Gang &gang) const;
    void clean(Gang &gang) const;

  private:
    void record_allocation(GangEntry &entry, const HookMessage &hook) const;
    void apply_early_hook(GangEntry &entry, JobRef job);

    const Context &context_;
    const Parts to_;
};

} // namespace bridge
