// SPDX-License-Identifier: GPL-2.0-or-later
// What decide() asks about the Pods of a gang, each question once. Pure.
#pragma once

#include "agent/gang/action.h"
#include "agent/objects/foreign_pods.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

// On no node yet, and it may get one.
bool waits(const Gang &gang, const Pod &pod);
bool any_waits(const Gang &gang);

// Containers of some Pod may live on a node.
bool any_bound(const Gang &gang);
// Likewise, because of the gang's current job.
bool any_lives_by_job(const Gang &gang);

// Those that live are being deleted, or were told to end, by whomever.
bool all_deleting(const Gang &gang);
bool all_told_to_end(const Gang &gang);

// A job of ours put all that live where they are.
bool bound_by_us(const Gang &gang);

bool all_over(const Gang &gang);

// Deleted before they were bound: no container ever was, none will be.
bool all_vanishing(const Gang &gang);

// Somebody else, or a job that Slurm has lost, put a Pod where it is: this job
// accounts for another place.
bool bound_by_others(const Gang &gang);

bool any_placed_elsewhere(const Gang &gang);

// The CPUs that the Pod needs of its job: those of its claims, too.
std::uint32_t cpus_of(const Gang &gang, const Pod &pod);

// Of that uid; null: there is none now.
PodPtr find_pod(const Gang &gang, const std::string &uid);

// The watch has shown that Pod (a uid) on a node.
bool is_seen_bound(const Gang &gang, const std::string &pod);

// Those of the action, of Pods that are still there.
std::vector<Seat> seats_of(const Gang &gang, const Bind &bind);

// The Pods that the action would put on each Node.
std::map<std::string, std::vector<PodPtr>> pods_by_node(const Gang &gang,
                                                        const Bind &bind);
// What these ask for, and those of the gang that live there already.
Amounts amounts_on(const Gang &gang, const std::string &node,
                   const std::vector<PodPtr> &more);

// --- of grouped gangs

// It has ended, and the gang's current job had put it on its node.
bool ended_by_job(const Gang &gang, const Pod &pod);

std::size_t count_waiting(const Gang &gang);
std::size_t count_of_job(const Gang &gang); // live by it, or ended by it
// Have ended well by an earlier job, and their controller does not make them
// again: those that wait are complete without them.
std::size_t count_done_before(const Gang &gang);

// The gang's current job has to do with its present Pods.
bool is_job_of_these(const Gang &gang, const Job &job);

// How many tasks a job for the Pods that wait has, with room for those that
// have yet to come.
std::size_t tasks_needed(const Gang &gang);

// As many Pods wait as must exist before a job is asked for.
bool enough_wait(const Gang &gang);

// Those that a job asked for now is for, in rank order: of a gang that may have
// more Pods than its size, the first that wait.
std::vector<PodPtr> asked_for(const Gang &gang);

// Its current job was asked for by an object of the same name that is gone.
bool of_former_group(const Gang &gang);

// That job was asked for, for Pods that wait: not for others that had the
// gang's name before. Of a batch job, which was there first: its Pods are
// these.
bool asked_for_these(const Gang &gang, const Job &job);

} // namespace bridge
