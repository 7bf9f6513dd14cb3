// SPDX-License-Identifier: GPL-2.0-or-later
// The questions that decide() asks about the Pods of a gang. Pure.
#pragma once

#include "agent/gang/action.h"
#include "agent/objects/foreign_pods.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace bridge {

// Whether Slurm has given nodes to its job, and the job has not ended.
bool is_placed(const Gang &gang);

// Whether the Pod is on no node yet and may still get one.
bool waits(const Gang &gang, const Pod &pod);
bool any_waits(const Gang &gang);
// The same while the gang is on its way to no node: what the Pods require of a
// node matters until they have one.
bool wants_node(const Gang &gang);

// Whether containers of some Pod may run on a node.
bool any_bound(const Gang &gang);
// The same, but only Pods that run because of the gang's current job.
bool any_lives_by_job(const Gang &gang);

// Whether all running Pods are being deleted, or were told to end, by anyone.
bool all_deleting(const Gang &gang);
bool all_told_to_end(const Gang &gang);

// Returns the time that the Pod's containers get from TERM to KILL after the
// end of its job: at least 1 s, because 0 would delete the Pod by force.
std::chrono::seconds grace_after_job(const Gang &gang, const Pod &pod);
// Whether the Pod has been told to end, by anyone, with a grace period that is
// no longer than that of the gang. A longer one has to be shortened.
bool ends_in_time(const Gang &gang, const Pod &pod);
// Returns the longest such time of the running Pods that have been told to end,
// by anyone; nothing: none has.
std::optional<std::chrono::seconds> time_to_end(const Gang &gang);
// The same if that of the gang were most.
std::optional<std::chrono::seconds> time_to_end(const Gang &gang,
                                                std::chrono::seconds most);
// Whether all running Pods are being deleted in that time, or all end in it.
bool all_deleting_in_time(const Gang &gang);
bool all_end_in_time(const Gang &gang);

// Whether jobs of ours placed all running Pods.
bool bound_by_us(const Gang &gang);

bool all_over(const Gang &gang);

// Whether all Pods were deleted before they were bound, so that no container
// ever ran or will run.
bool all_vanishing(const Gang &gang);

// Whether a Pod runs where the current job did not place it: another scheduler,
// or a job that Slurm has lost, put it there.
bool bound_by_others(const Gang &gang);

bool any_placed_elsewhere(const Gang &gang);

// Whether the Pod uses devices, by claims or as extended resources.
bool uses_devices(const Pod &pod);
bool requests_extended(const Requests &requests);

// Returns the CPUs that the Pod needs in its job, including those of its
// claims.
std::uint32_t cpus_of(const Gang &gang, const Pod &pod);

using PodsByUid = std::unordered_map<std::string, PodPtr>;
// Returns the Pods of the gang by their uid.
PodsByUid pods_by_uid(const Gang &gang);
// Returns the Pod with this uid, or null if there is none.
PodPtr find_pod(const PodsByUid &pods, const std::string &uid);

// Returns the uids of the Pods that the watch has shown on a node.
std::unordered_set<std::string> seen_bound(const Gang &gang);

// Returns the seats of the action whose Pods still exist.
std::vector<Seat> seats_of(const Gang &gang, const Bind &bind);

// Returns the Pods that the action would bind, by Node.
std::map<std::string, std::vector<PodPtr>> pods_by_node(const Gang &gang,
                                                        const Bind &bind);
// Returns what these Pods request together.
Amounts amounts_of(const std::vector<PodPtr> &pods);

// --- questions about grouped gangs

// Whether the Pod has ended after the gang's current job put it on its node.
bool ended_by_job(const Gang &gang, const Pod &pod);

std::size_t count_waiting(const Gang &gang);
std::size_t count_of_job(const Gang &gang); // Pods that run, or ran, by the job
// Counts Pods that succeeded in an earlier job and that their controller does
// not create again: the waiting Pods are complete without them.
std::size_t count_done_before(const Gang &gang);

// Whether the job belongs to the gang's present Pods.
bool is_job_of_these(const Gang &gang, const Job &job);

// Returns the number of tasks of a job for the waiting Pods, including room for
// Pods that do not exist yet.
std::size_t tasks_needed(const Gang &gang);

// Whether the number of Pods that must exist before a job is requested is
// reached.
bool enough_wait(const Gang &gang);

// Whether it is reached only because Pods have succeeded before.
bool enough_by_done(const Gang &gang);

// Returns the Pods that a job requested now would be for, in rank order. If a
// gang may have more Pods than its size, these are the first waiting ones.
std::vector<PodPtr> asked_for(const Gang &gang);

// Whether the current job was requested for an earlier object of the same name
// that is gone.
bool of_former_group(const Gang &gang);

// Whether the job was requested for Pods that still wait, and not for others
// that had the gang's name before. A batch job existed before its Pods: it
// always belongs to them.
bool asked_for_these(const Gang &gang, const Job &job);

} // namespace bridge
