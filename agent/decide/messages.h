// SPDX-License-Identifier: GPL-2.0-or-later
// The messages that users read on their Pods, with Slurm's own terms where
// Slurm has them. Pure; each message is written once, here.
#pragma once

#include "agent/gang/gang.h"
#include "agent/objects/group_spec.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace bridge {

// The reason of the condition PodScheduled of the Pods of a gang that waits.
// Autoscalers buy nodes for Pods with the reason "Unschedulable" and no others,
// so it says that more nodes would help: to the gang's job in Slurm's queue, or
// to a gang that no Node suits. Otherwise it is Slurm's reason, such as
// "Dependency"; "Allocated" once the job has nodes; "NoSlurmJob" if there is
// none.
std::string scheduled_reason(const Gang &gang);
inline constexpr char no_job_reason[] = "NoSlurmJob";

// "Slurm job 812 is waiting: Priority."
std::string waiting_message(const Job &job);

// Whether this message says that the job waits, for a reason of the same class
// as its present one: see common/slurm/reasons.h.
bool has_reason_class_of(const std::string &message, const Job &job);

// "Expected to start at 2026-11-21T14:05:00Z."; empty when Slurm cannot say.
std::string expected_start_message(const Job &job);

// "Slurm job 812 ended: CANCELLED."
std::string job_ended_message(JobRef job, JobState state);

// The comment of a job that a crash of slurmctld set back to pending while its
// Pods ran to their end. status: as wait(2) returns it.
std::string lost_allocation_message(int status, const std::string &reason);

// The comment of a job that the agent ends because its Pods have another one,
// the first. lost: the Pods ran by it until a crash of slurmctld set it back to
// pending.
std::string second_job_message(const std::optional<Job> &first, bool lost);

// The reason of the Event on a Pod whose job has ended: "Preempted" or
// "SlurmJobEnded".
std::string ended_event_reason(JobState state);

// The reason of the Pod's DisruptionTarget condition, such as
// "PreemptionByScheduler"; empty: the end of its job is not a disruption, as by
// scancel or the time limit.
std::string disruption_reason(JobState state);

// The reason of a Pod that the agent fails, such as "SlurmJobCancelled".
std::string failed_pod_reason(JobState state);

// "Slurm job 812 had node n1, which does not suit the Pod: its taint k is not
// tolerated. Another job is requested in 8 s." node: "" if the reason is not
// about one node.
std::string given_up_message(JobRef job, const std::string &node,
                             const std::string &reason,
                             std::chrono::seconds pause);

// "No Node that the Pod may have has devices that satisfy the ResourceClaim c
// (request gpu: 2 devices of DeviceClass gpu.example.com): it waits for one."
// asked: see asked_words().
std::string no_fitting_devices_message(const std::string &asked);

// "Successfully assigned default/hello to node real1 by Slurm job 812."
std::string bound_message(const Pod &pod, const std::string &node, JobRef job);

// " It asks for 1 CPUs and 512 MiB; its task has 4 and 2048, as the largest Pod
// of the gang needs."; empty if it uses its whole task. cpus: the CPUs that the
// Pod needs in its job.
std::string waste_message(const Pod &pod, std::uint32_t cpus, const Job &job);

// "Slurm job 812 has a node, but the Pod cannot be bound to it: …."
std::string not_bound_message(JobRef job, const std::string &reason);

// For a running Pod without a job: it has got a new job, or cannot get one.
std::string adopting_message(JobRef job);
std::string not_adopted_message(const std::string &reason);

// Why a Pod with ResourceClaims is rejected (devices are off in k8s.conf), why
// it waits (rights are missing), that the claims are not listed yet, and that
// it is not known yet which devices fit: for now, or since its namespace has
// asked for so much.
std::string no_device_gres_message();
std::string no_device_rights_message();
std::string claims_unlisted_message();
std::string devices_uncompared_message();
std::string device_share_message(const std::string &ns);
// The same for extended resources: devices are off in k8s.conf, rights to
// create claims are missing, or the API server does not support such claims.
std::string no_extended_gres_message(const Pod &pod);
std::string no_extended_rights_message();
std::string no_extended_gate_message();

// " Node h1 has a slurmd: …."
std::string plugin_beside_slurmd_message(const std::string &node);

// " The devices of the node that Slurm chose are not suitable: …."
std::string devices_unfit_message(const std::string &reason);

// Slurm gives the resources of a suspended job to others, but the Pod runs on.
std::string suspended_message(JobRef job);
std::string suspended_again_message(JobRef job);
// The same, for the job.
std::string suspended_again_comment();

// For Pods whose claim's devices were counted by this job, which has ended; and
// for the comment of a job that lives on after its Pods, for a Pod of another.
std::string uncounted_message(const Job &job, const std::string &claim);
std::string kept_message(const std::string &pod);

// "3 of 8 Pods of gang train exist."
std::string incomplete_gang_message(const Gang &gang);

// "PodGroup train does not exist yet."
std::string no_group_message(const GroupRef &group);

// "PodGroup train was recreated: Slurm job 812 belongs to the earlier one."
std::string former_group_message(const Gang &gang);

// For a Pod that came to a running gang: "Slurm job 812 of its gang has no
// place for the Pod: …."
std::string no_seat_message(JobRef job, const std::string &reason);

// "Slurm job 812 has node kn1, and waits until containers of ended jobs stop
// there."
std::string no_room_message(JobRef job, const std::string &node);

// "No Node satisfies disk=ssd: the Pod waits for one."
std::string nowhere_message(const Predicate &predicate);
std::string too_many_predicates_message(std::size_t most);
std::string too_many_in_namespace_message(std::size_t most);

// For a Pod with volume claims: the agent may not read them; they could not be
// read; its job has a node, but they are not bound there yet.
std::string no_volume_rights_message();
std::string claims_unreadable_message(const std::string &reason);
std::string volumes_wait_message(JobRef job, const std::string &reason);

// Why no job is submitted yet, by a limit of k8s.conf: too many wait in Slurm;
// the namespace has its share of that; those of its jobs that wait by their own
// wish have theirs.
struct SubmitLimit {
    const char *key;
    unsigned number;
};
std::string submit_limit_message(const SubmitLimit &limit);
std::string submit_share_message(unsigned share, const SubmitLimit &limit);
std::string submit_by_wish_message(const SubmitLimit &limit);

// Why a Pod whose grace period is longer than allowed gets no job.
std::string long_grace_message(const Pod &pod, std::chrono::seconds allowed);

// The command by which an administrator says as whom the Pods of a namespace
// run: "kubectl annotate namespace physics slurmk8s/user=USER".
std::string name_user_command(const std::string &ns);

// Why no job could be submitted for the Pod: the reason of the agent or of
// Slurm.
std::string submit_refused_message(const std::string &reason);

} // namespace bridge
