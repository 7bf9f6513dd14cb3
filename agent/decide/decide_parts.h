// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of decide() that are the same for a lone Pod and for a grouped
// gang. Pure.
#pragma once

#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

// Whether the volumes of the waiting Pods are bound, or they have none.
bool claims_bound(const Gang &gang);

bool has_resource_claims(const Gang &gang);

// Returns ReleaseClaims if claims of its Pods still hold devices of an earlier
// job or placement that nobody can use; nothing: there are none.
std::optional<Action> step_for_left(const Gang &gang);

// For an allocated job: returns Cancel if its Pods live by devices that no job
// counts any more; nothing: they do not.
std::optional<Action> step_for_uncounted(const Gang &gang);

// For a job allocated on these Nodes: returns Bind with the claims to write
// first, or what has to be done or waited for before.
Decision bind_with_devices(const Gang &gang, std::vector<std::string> nodes);

// For waiting Pods: returns Submit, Refuse, or Wait until they can be placed.
Decision submit_or_wait(const Gang &gang);
// The same for Pods that have had a job before.
Decision submit_if_placeable(const Gang &gang);

// For waiting Pods whose job is pending.
Decision wait_in_queue(const Gang &gang);

// For a gang whose Pods are on a Node that counts as lost.
Action end_with_node(const Gang &gang, JobRef job);

// For a gang whose Pods are all over.
Action complete_or_cancel(const Gang &gang);

// Turns this end into one for a job that a crash has set back to pending.
Action as_lost(Action end);

// The decisions for a gang by the state of its job; a stale job is read first
// (Look).
struct ByJob {
    using Answer = Decision (*)(const Gang &, const NodeMap &);
    Answer without_job;
    Answer ended;
    Answer allocated; // also if suspended
    Answer pending;
};
// For a job that somebody has suspended. Its Pods go on, so it is resumed. A
// user who does it again would get time that Slurm does not count, so the
// second time the job ends.
Action resume_or_cancel(const Gang &gang);
Decision decide_by_job(const ByJob &answers, const Gang &gang,
                       const NodeMap &nodes);

// For a gang whose job has ended while some Pods run by it.
Decision end_or_wait(const Gang &gang);
// Whether the job only appears to have failed with its node: slurmctld has
// forgotten nodes, partitions or GRES, and fails every job on them. That says
// nothing about the Pods.
bool only_forgotten(const Gang &gang);

// Whether the state means that somebody ended the job on purpose or that its
// time is over. A failed node, preemption and rejection at submit (FAILED) do
// not.
bool ended_on_purpose(JobState state);

} // namespace bridge
