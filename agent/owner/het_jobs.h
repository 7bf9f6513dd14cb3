// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose job is heterogeneous: while one waits for backfill, its
// partitions get no kick, and what slurmctld has left of a refused one is
// ended. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

class HetJobs {
  public:
    HetJobs(const Context &context, const Errands &errands, GangStore &gangs)
        : context_(context), errands_(errands), gangs_(gangs)
    {
    }

    // The gang is decided now.
    void note(const Gang &gang);
    // Whether slurmctld's main scheduler must not be asked to run for the gang.
    bool is_quiet(const Gang &gang);

    // Removes the jobs that slurmctld has refused, and kept a part of, and ends
    // those parts.
    void drop_broken(std::vector<Job> &jobs) const;

  private:
    const Context &context_;
    const Errands &errands_;
    GangStore &gangs_;
    std::set<std::string> may_wait_; // uids: their jobs may wait for backfill
};

} // namespace bridge
