// SPDX-License-Identifier: GPL-2.0-or-later
// The gangs that the owner thread knows, found by uid or by JobId, and what it
// remembers about each beyond the facts. Not safe from other threads.
#pragma once

#include "agent/gang.h"
#include "agent/mailbox.h"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bridge {

struct GangEntry {
    Gang gang;

    // The action that a worker carries out now; one a gang at most.
    std::optional<std::size_t> in_flight;
    // An action of this kind is not repeated before then: it failed, or its
    // effect has yet to be seen.
    std::optional<std::size_t> held_back;
    Clock::time_point held_until{};
    unsigned failures = 0; // in a row

    Clock::time_point job_since{}; // when its current job became known
    // The sentence last said on the Pods; it is not said twice in a row.
    std::string told;
    // A job of ours without any Pod: since when, unless Pods of it were seen.
    std::optional<Clock::time_point> orphan_since;
};

class GangStore {
  public:
    // Takes in the Pod's latest state; returns its gang's uid.
    std::string put(Pod pod);
    // The Pod is gone; returns its gang's uid, or nothing if it was not known.
    std::optional<std::string> remove(const Pod &pod);
    // The uids of the Pods of one scheduler name that are not in keep.
    std::vector<Pod>
    missing(const std::string &scheduler,
            const std::unordered_set<std::string> &keep) const;

    GangEntry *find(const std::string &uid);
    // The gang whose current job this is.
    GangEntry *find(JobRef job);
    // Makes the entry of a gang that is only known by its job.
    GangEntry &adopt(const GangTag &tag);
    void set_job(GangEntry &entry, std::optional<Job> job);
    void erase(const std::string &uid);

    // Whether containers of Pods bound by that job may be alive.
    bool living_of(Sluid sluid) const;

    std::unordered_map<std::string, GangEntry> &all() { return gangs_; }
    const std::unordered_map<std::string, GangEntry> &all() const
    {
        return gangs_;
    }

  private:
    std::unordered_map<std::string, GangEntry> gangs_; // by uid
    std::unordered_map<JobId, std::string> by_job_;    // to uid
};

} // namespace bridge
