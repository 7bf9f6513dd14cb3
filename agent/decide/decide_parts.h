// SPDX-License-Identifier: GPL-2.0-or-later
// What decide() answers alike for a Pod alone and for a grouped gang. Pure.
#pragma once

#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

// The volumes of the Pods that wait are bound, or they have none.
bool claims_bound(const Gang &gang);

bool has_resource_claims(const Gang &gang);

// Devices that its Pods have got of an earlier job, or placement, and that
// nobody can use meanwhile: ReleaseClaims. Nothing: there are none.
std::optional<Action> step_for_left(const Gang &gang);

// Its job is allocated, on these Nodes: Bind with what its claims need first.
Action bind_with_devices(const Gang &gang, std::vector<std::string> nodes);

// For Pods that wait: Submit, Refuse, or Wait until they can be placed.
Action submit_or_wait(const Gang &gang);
// The same, where they have had a job before.
Action submit_if_placeable(const Gang &gang);

// While its job is pending.
Action wait_in_queue(const Gang &gang);

// All its Pods are over.
Action complete_or_cancel(const Gang &gang);

// That end for a job which a crash has set back to pending.
Action as_lost(Action end);

// The answers to a gang by what is known of its job; one that may have changed
// is looked at first.
struct ByJob {
    using Answer = Action (*)(const Gang &, const NodeMap &);
    Answer without_job;
    Answer ended;
    Answer allocated; // or suspended
    Answer pending;
};
Action decide_by_job(const ByJob &answers, const Gang &gang,
                     const NodeMap &nodes);

// Its job has ended, and some Pods live by it.
Action end_or_wait(const Gang &gang);
// It only looks so: slurmctld has forgotten nodes, partitions or GRES, and
// fails every job on them. That says nothing about the Pods.
bool only_forgotten(const Gang &gang);

// Slurm says that somebody ended the job on purpose, or that its time is over.
// A node that failed, a job that had to give way, or one that was refused when
// it was submitted (FAILED) says nothing of the kind.
bool ended_on_purpose(JobState state);

} // namespace bridge
