// SPDX-License-Identifier: GPL-2.0-or-later
// The gangs that the owner thread knows, found by uid or by JobId, and what it
// remembers about each beyond the facts. Not safe from other threads.
#pragma once

#include "agent/gang/gang.h"
#include "common/base/mailbox.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bridge {

struct GangEntry {
    Gang gang;

    // The action that a worker carries out now; one a gang at most.
    std::optional<std::size_t> in_flight;
    bool ending_job = false; // that action ends its job
    // How often slurmctld had gone away when its job was read last, and when
    // the action in flight began.
    unsigned heard = 0;
    unsigned began = 0;
    // An action of this kind is not repeated before then: it failed, or its
    // effect has yet to be seen.
    std::optional<std::size_t> held_back;
    Clock::time_point held_until{};
    Clock::time_point armed_until{}; // the timer that is set for it
    unsigned failures = 0;           // in a row
    std::string last_failure;        // of those
    unsigned renewals = 0;           // in a row, without a binding
    std::optional<Clock::time_point> bind_failing_since;
    std::optional<Clock::time_point> ending_since; // Pods were told to end
    // Of a grouped gang: its first Pod is alone; it has nodes and is not whole;
    // all its Pods are over.
    std::optional<Clock::time_point> first_since;
    std::size_t counted = 0; // its Pods, and since when there are so many
    Clock::time_point counted_since{};
    std::optional<Clock::time_point> short_since;
    std::optional<Clock::time_point> over_since;
    // What its PodGroup was told last: "True", or why it waits.
    std::string group_told;

    Clock::time_point volumes_due{};   // when its claims are read again
    std::set<std::string> claims_read; // of which gang.volumes says something
    unsigned volume_looks = 0;         // in a row, that were not enough

    // Nodes (Kubernetes' names) whose devices would not do, and until when that
    // is believed; and why the last one would not.
    std::map<std::string, Clock::time_point> excluded;
    std::string excluded_for;
    // The API server would not take what was written for this job, where it was
    // to be used on that Node.
    std::string claims_refused;
    std::string claims_refused_on;
    JobRef claims_refused_of{};
    std::optional<Clock::time_point> devices_missed_since; // taken, by others
    std::optional<Clock::time_point> adoption_held_since;  // devices unknown
    Clock::time_point submit_after{}; // since its last job was given up

    Clock::time_point job_since{}; // when its current job became known
    std::optional<Clock::time_point> uncertain_since; // a submit's outcome
    // The sentence last said on the Pods; it is not said twice in a row. What
    // still waits to be said is dropped when the Pods are about to be bound.
    std::string told;
    std::stop_source telling;
    // A job of ours without any Pod: since when, unless Pods of it were seen.
    std::optional<Clock::time_point> orphan_since;
};

class GangStore {
  public:
    // Takes in the Pod's latest state; returns its gang's uid.
    std::string put(Pod pod);
    // The Pod is gone; returns its gang's uid, or nothing if it was not known.
    std::optional<std::string> remove(const Pod &pod);
    // That Pod (a uid) is alone from now on. Returns its gang's uid, or "" when
    // it was in no grouped one.
    std::string split(const std::string &pod);
    // The uids of the Pods of one scheduler name that are not in keep.
    std::vector<Pod> missing(const std::string &scheduler,
                             const std::unordered_set<std::string> &keep) const;

    GangEntry *find(const std::string &uid);
    // The gang whose current job this is.
    GangEntry *find(JobRef job);
    // Makes the entry of a gang that is only known by its job.
    GangEntry &adopt(const GangTag &tag);
    void set_job(GangEntry &entry, std::optional<Job> job);
    void erase(const std::string &uid);

    // Whether containers of Pods bound by that job may be alive.
    bool living_of(JobRef job) const;
    // The gangs with Pods that may be alive on that Node.
    const std::set<std::string> &living_on(const std::string &node) const;
    // The same of every Node; a set may be empty.
    const std::unordered_map<std::string, std::set<std::string>> &living() const
    {
        return by_node_;
    }
    // The Nodes on which a Pod has ended since the last call.
    std::set<std::string> take_freed() { return std::exchange(freed_, {}); }

    std::unordered_map<std::string, GangEntry> &all() { return gangs_; }
    const std::unordered_map<std::string, GangEntry> &all() const
    {
        return gangs_;
    }

  private:
    const std::string &gang_uid(const Pod &pod) const;
    void index(const Pod &pod);
    void unindex(const Pod &pod);
    // More of the Pod's gang live on its Node.
    bool others_there(const Pod &pod) const;

    std::unordered_map<std::string, GangEntry> gangs_; // by uid
    std::unordered_map<JobId, std::string> by_job_;    // to uid
    // The Pods of grouped gangs, by uid: to that of their gang, or their own if
    // they have left it.
    std::unordered_map<std::string, std::string> members_;
    // Bound Pods that are not terminal: the gangs on each Node, and how many
    // for each SLUID.
    std::unordered_map<std::string, std::set<std::string>> by_node_;
    std::unordered_map<std::string, std::size_t> by_sluid_;
    std::set<std::string> freed_;
};

} // namespace bridge
