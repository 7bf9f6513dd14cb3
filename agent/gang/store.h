// SPDX-License-Identifier: GPL-2.0-or-later
// The gangs that the owner thread knows, by uid or JobId, and what it remembers
// about each in addition to its facts. Its callers say what time it is. Not
// thread-safe.
#pragma once

#include "agent/gang/gang.h"
#include "agent/gres/kept_plan.h"
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

// A gang, and what the parts of the owner thread (agent/owner) note about it:
// each group of fields is written by the class that stands above it, alone.
struct GangEntry {
    Gang gang;

    // --- Dispatch begins the action, Outcomes ends it
    // The action that a worker thread carries out now; at most one per gang.
    std::optional<std::size_t> in_flight;
    bool ending_job = false; // the action ends its job
    // How often slurmctld had been unreachable when the action began.
    unsigned began = 0;
    // Its job, of which Slurm has given no reason yet, waits by its own wish:
    // agent/decide/pending_quota.h.
    bool by_wish = false;

    // --- whoever has read its job (GangJobs, JobSync, BatchIntake, Outcomes)
    // How often slurmctld had been unreachable then.
    unsigned heard = 0;

    // --- Attempts; armed_until: Agenda
    // An action of this kind is not repeated before postponed_until: it failed,
    // or its effect is not visible yet.
    std::optional<std::size_t> postponed;
    Clock::time_point postponed_until{};
    Clock::time_point armed_until{}; // the timer set for it
    unsigned failures = 0;           // in a row
    std::string last_failure;        // the last of these
    unsigned renewals = 0;           // in a row, without a binding
    std::optional<Clock::time_point> bind_failing_since;
    // The earliest next submit after a job was given up.
    Clock::time_point submit_after{};

    // --- GraceLimits
    // Since when Pods have been told to end.
    std::optional<Clock::time_point> ending_since;

    // --- GroupTimes
    // For a grouped gang, since when: its first Pod is alone (first_since); it
    // has nodes but Pods are missing (short_since); all its Pods are over
    // (over_since); it is complete only by Pods that have succeeded
    // (refill_since).
    std::optional<Clock::time_point> first_since;
    std::size_t counted = 0; // number of its Pods, and since when
    Clock::time_point counted_since{};
    std::optional<Clock::time_point> short_since;
    std::optional<Clock::time_point> over_since;
    std::optional<Clock::time_point> refill_since;

    // --- Groups
    // The last condition written to its PodGroup: "True", or why it waits.
    std::string group_told;

    // --- VolumeLooks; volumes_used: Placement, too
    bool volumes_used = true;        // its placement follows what was read last
    Clock::time_point volumes_due{}; // when its volume claims are read again
    std::set<std::string> claims_read; // the claims in gang.volumes
    unsigned volume_looks = 0;         // in a row, that were not enough

    // --- DeviceTroubles
    // Nodes (Kubernetes' names) whose devices were unsuitable, until when this
    // is believed, and the reason for the last one.
    std::map<std::string, Clock::time_point> excluded;
    std::string excluded_reason;
    // Why the API server rejected the claim status that was written for this
    // job, and the Node of that allocation.
    std::string claims_refused_reason;
    std::string claims_refused_node;
    JobRef claims_refused_job{};
    // Since when others have had its devices.
    std::optional<Clock::time_point> devices_missed_since;
    // Since when it is not known which devices fit its claims.
    std::optional<Clock::time_point> answers_missed_since;

    // --- DevicePlan; of the job that it has, until its Pods are bound
    NodePlans node_plans;

    // --- Permission
    // Since when an adoption waits because its devices are unknown.
    std::optional<Clock::time_point> adoption_held_since;

    // --- SharedClaims
    // Whether this agent has seen its job count the devices of claims, and
    // whether Pods were on nodes then, so that others may follow.
    std::optional<JobRef> counting_job;
    bool may_be_followed = false;
    // The last Pod for which the end of its job was told to wait.
    std::string kept_for_told;
    // Why no job counts devices of its Pods any more, and the job of the gang
    // for which that was found.
    std::string uncounted_reason;
    JobRef uncounted_job{};

    // --- Voice
    // The last message written on the Pods; it is not repeated. A message that
    // is still queued is dropped when the Pods are about to be bound.
    std::string told;
    std::string told_reason; // the reason of the condition with it
    std::stop_source telling;

    // --- GangStore and agent/gang/flags.h
    Clock::time_point job_since{}; // since when its current job is known
    // Since when the outcome of a submit is unknown.
    std::optional<Clock::time_point> uncertain_since;
    // A job of ours without any Pod: since when, unless Pods of it were seen.
    std::optional<Clock::time_point> orphan_since;
};

class GangStore {
  public:
    // Records the Pod's latest state; returns its gang's uid. Pod::arrived
    // stays as it was first recorded.
    std::string put(Pod pod);
    // Removes the Pod; returns its gang's uid, or nothing if it was not known.
    std::optional<std::string> remove(const Pod &pod);
    // Its state as recorded, or null.
    PodPtr find(const Pod &pod) const;
    // The Pod with this uid if it is in the gang, or null.
    PodPtr find_in(const std::string &gang, const std::string &pod) const;
    // Whether the Pod is recorded, and the grouped gang that it is in.
    bool knows(const Pod &pod) const;
    std::optional<std::string> group_of(const Pod &pod) const;
    // Makes this Pod (a uid) a gang of one. Returns its gang's uid, or "" if it
    // was in no grouped gang.
    std::string split(const std::string &pod);
    // Returns the Pods of one scheduler name whose uids are not in keep.
    std::vector<Pod> missing(const std::string &scheduler,
                             const std::unordered_set<std::string> &keep) const;

    GangEntry *find(const std::string &uid);
    // Returns the gang whose current job this is, or null.
    GangEntry *find(JobRef job);
    // Creates the entry of a gang that is known only by its job.
    GangEntry &create_for_job(const GangTag &tag, Clock::time_point now);
    void set_job(GangEntry &entry, std::optional<Job> job,
                 Clock::time_point now);
    void erase(const std::string &uid);

    // Returns the gangs with Pods that are not over and name this claim, except
    // by a template.
    std::vector<std::string> users_of(const ObjectKey &claim) const;
    // Returns the gangs whose current job, living or ended, has the claim in
    // its tag: its devices are in the job's GRES.
    std::vector<std::string> counters_of(const ObjectKey &claim) const;

    // Whether containers of Pods bound by this job may be running.
    bool living_of(JobRef job) const;
    // Pods by the uid of their gang; no list is empty.
    using PodsByGang = std::map<std::string, std::vector<PodPtr>>;
    // Returns the Pods that may be running on this Node: those that are bound
    // and not over.
    const PodsByGang &living_on(const std::string &node) const;
    // Returns the same for all Nodes that have such Pods.
    const std::unordered_map<std::string, PodsByGang> &living() const
    {
        return by_node_;
    }
    // Returns the Nodes on which a Pod has ended since the last call.
    std::set<std::string> pop_freed() { return std::exchange(freed_, {}); }

    std::unordered_map<std::string, GangEntry> &all() { return gangs_; }
    const std::unordered_map<std::string, GangEntry> &all() const
    {
        return gangs_;
    }

  private:
    const std::string &gang_uid(const Pod &pod) const;
    void index(const PodPtr &pod);
    void unindex(const Pod &pod);
    void unindex_node(const Pod &pod);
    void index_claims(const Pod &pod);
    void unindex_claims(const Pod &pod);
    void index_counted(const Gang &gang);
    void unindex_counted(const Gang &gang);
    void unindex_job(const Gang &gang);

    std::unordered_map<std::string, GangEntry> gangs_; // by uid
    std::unordered_map<JobId, std::string> by_job_;    // to gang uid
    // The Pods of grouped gangs, by uid: the uid of their gang, or their own if
    // they have left it.
    std::unordered_map<std::string, std::string> members_;
    std::unordered_map<std::string, PodPtr> pods_; // all, by uid
    // Bound Pods that are not terminal: those on each Node, and the number of
    // Pods for each SLUID.
    std::unordered_map<std::string, PodsByGang> by_node_;
    std::unordered_map<std::string, std::size_t> by_sluid_;
    std::set<std::string> freed_;
    // By claim: gang uids, with the number of Pods of each; and those of gangs
    // whose job counts it.
    std::map<ObjectKey, std::map<std::string, std::size_t>> by_claim_;
    std::map<ObjectKey, std::set<std::string>> by_counted_;
};

} // namespace bridge
