// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs whose job is heterogeneous: while one waits for backfill, its
// partitions get no kick, and what slurmctld has left of a refused one is
// ended. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bridge {

class HetJobs {
  public:
    HetJobs(const Context &context, const Errands &errands, GangStore &gangs)
        : context_(context), errands_(errands), gangs_(gangs)
    {
    }

    // The gang is decided now. The partitions are those that its Pods ask for
    // when its job is first seen to wait: later changes do not move the job.
    void note(const Gang &gang);
    // Whether slurmctld's main scheduler must not be asked to run for the gang.
    bool is_quiet(const Gang &gang);

    // Removes the jobs that slurmctld has refused, and kept a part of, and ends
    // those parts.
    void drop_broken(std::vector<Job> &jobs) const;

  private:
    // A job that may wait for backfill, and the partitions it was requested in.
    struct Asked {
        JobRef job;
        std::string partitions;
    };

    void drop(const std::string &uid);
    bool any_waits_in(std::string_view partition);

    const Context &context_;
    const Errands &errands_;
    GangStore &gangs_;
    std::unordered_map<std::string, Asked> may_wait_; // by the uid of the gang
    // The same gangs (their uids) by each of these partitions; no set is empty.
    std::map<std::string, std::set<std::string>, std::less<>> by_partition_;
};

} // namespace bridge
