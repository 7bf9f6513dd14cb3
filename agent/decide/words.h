// SPDX-License-Identifier: GPL-2.0-or-later
// The messages that users read on their Pods, with Slurm's own terms where
// Slurm has them. Pure; each message is written once, here.
#pragma once

#include "agent/gang/gang.h"
#include "agent/objects/group_spec.h"

#include <cstdint>
#include <string>

namespace bridge {

// "Slurm job 812 is waiting: Priority."
std::string waiting_words(const Job &job);

// Whether this message says that the job waits, for a reason of the same class
// as its present one: see common/slurm/reasons.h.
bool says_class_of(const std::string &sentence, const Job &job);

// "Expected to start at 2026-11-21T14:05:00Z."; empty when Slurm cannot say.
std::string expected_words(const Job &job);

// "Slurm job 812 ended: CANCELLED."
std::string job_ended_words(JobRef job, JobState state);

// The comment of a job that a crash of slurmctld set back to pending while its
// Pods ran to their end. status: as wait(2) returns it.
std::string lost_allocation_words(int status, const std::string &why);

// The comment of a job that the agent ends because its Pods have another one,
// the first. lost: the Pods ran by it until a crash of slurmctld set it back to
// pending.
std::string second_job_words(const std::optional<Job> &first, bool lost);

// The reason of the Event on a Pod whose job has ended: "Preempted" or
// "SlurmJobEnded".
std::string ended_event_reason(JobState state);

// The reason of the Pod's DisruptionTarget condition, such as
// "PreemptionByScheduler"; empty: the end of its job is not a disruption, as by
// scancel or the time limit.
std::string disruption_reason(JobState state);

// The reason of a Pod that the agent fails, such as "SlurmJobCancelled".
std::string failed_pod_reason(JobState state);

// "Successfully assigned default/hello to node real1 by Slurm job 812."
std::string bound_words(const Pod &pod, const std::string &node, JobRef job);

// " It asks for 1 CPUs and 512 MiB; its task has 4 and 2048, as the largest Pod
// of the gang needs."; empty if it uses its whole task. cpus: the CPUs that the
// Pod needs in its job.
std::string waste_words(const Pod &pod, std::uint32_t cpus, const Job &job);

// "Slurm job 812 has a node, but the Pod cannot be bound to it: …."
std::string not_bound_words(JobRef job, const std::string &why);

// For a running Pod without a job: it has got a new job, or cannot get one.
std::string adopting_words(JobRef job);
std::string not_adopted_words(const std::string &why);

// Why a Pod with ResourceClaims is rejected (devices are off in k8s.conf), why
// it waits (rights are missing), and that the claims are not listed yet.
std::string no_device_gres_words();
std::string no_devices_words();
std::string claims_unlisted_words();
// The same for extended resources: devices are off in k8s.conf, rights to
// create claims are missing, or the API server does not support such claims.
std::string no_extended_gres_words(const Pod &pod);
std::string no_extended_rights_words();
std::string no_extended_gate_words();

// " Node h1 has a slurmd: …."
std::string plugin_beside_slurmd_words(const std::string &node);

// " The devices of the node that Slurm chose are not suitable: …."
std::string devices_unfit_words(const std::string &why);

// Slurm gives the resources of a suspended job to others, but the Pod runs on.
std::string suspended_words(JobRef job);

// "3 of 8 Pods of gang train exist."
std::string incomplete_words(const Gang &gang);

// "PodGroup train does not exist yet."
std::string no_group_words(const GroupRef &group);

// "PodGroup train was recreated: Slurm job 812 belongs to the earlier one."
std::string former_group_words(const Gang &gang);

// For a Pod that came to a running gang: "Slurm job 812 of its gang has no
// place for the Pod: …."
std::string no_seat_words(JobRef job, const std::string &why);

// "Slurm job 812 has node kn1, and waits until containers of ended jobs stop
// there."
std::string no_room_words(JobRef job, const std::string &node);

// "No Node satisfies disk=ssd: the Pod waits for one."
std::string nowhere_words(const Predicate &predicate);
std::string too_many_predicates_words(std::size_t most);
std::string too_many_in_namespace_words(std::size_t most);

// For a Pod with volume claims: the agent may not read them; they could not be
// read; its job has a node, but they are not bound there yet.
std::string no_volumes_words();
std::string claims_unreadable_words(const std::string &why);
std::string volumes_wait_words(JobRef job, const std::string &why);

// Why no job is submitted yet: a key of k8s.conf, and its value.
std::string in_line_words(const char *key, unsigned limit);

// Why no job could be submitted for the Pod: the reason of the agent or of
// Slurm.
std::string refused_words(const std::string &why);

} // namespace bridge
