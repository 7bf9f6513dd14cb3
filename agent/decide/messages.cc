// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/messages.h"

#include "agent/gang/facts.h"
#include "common/contract/autoscaler_names.h"
#include "common/contract/names.h"
#include "common/slurm/reasons.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

constexpr char waiting_begin[] = "Slurm job {} is waiting: ";
const std::string allocation_lost = "slurmctld lost the allocation in a crash";

} // namespace

std::string scheduled_reason(const Gang &gang)
{
    const std::optional<Job> &job = gang.job;
    if (job && is_allocated(job->state))
        return "Allocated";
    if (gang.placement.no_node || (job && job->wants_nodes))
        return names::unschedulable;
    if (!job || job->state != JobState::pending)
        return no_job_reason;
    return job->reason.empty() ? "None" : job->reason;
}

std::string waiting_message(const Job &job)
{
    return std::format(waiting_begin, job.ref.id) + job.reason + ".";
}

bool has_reason_class_of(const std::string &message, const Job &job)
{
    std::string begin = std::format(waiting_begin, job.ref.id);
    if (!message.starts_with(begin))
        return false;
    std::string_view reason = message;
    reason.remove_prefix(begin.size());
    reason = reason.substr(0, reason.find('.'));
    return reason_class(reason) == reason_class(job.reason);
}

std::string expected_start_message(const Job &job)
{
    if (job.expected_start.time_since_epoch().count() <= 0)
        return {};
    return std::format("Expected to start at {:%FT%TZ}.", job.expected_start);
}

std::string job_ended_message(JobRef job, JobState state)
{
    return std::format("Slurm job {} ended: {}.", job.id, state_name(state));
}

std::string lost_allocation_message(int status, const std::string &reason)
{
    std::string words = allocation_lost + "; the Pod ended with exit code " +
                        std::to_string(status >> 8);
    if (int signal = status & 0x7f)
        words += ", signal " + std::to_string(signal);
    return reason.empty() ? words : words + ": " + reason;
}

std::string second_job_message(const std::optional<Job> &first, bool lost)
{
    if (!first)
        return "a second job of the same Pods";
    return std::format("{}JobId={} is the job of its Pods",
                       lost ? allocation_lost + "; now " : "", first->ref.id);
}

std::string ended_event_reason(JobState state)
{
    return state == JobState::preempted ? "Preempted" : "SlurmJobEnded";
}

std::string disruption_reason(JobState state)
{
    switch (state) {
    case JobState::preempted:
        return "PreemptionByScheduler"; // as kube-scheduler's
    case JobState::node_fail:
        return "SlurmNodeFail";
    default:
        return {};
    }
}

std::string failed_pod_reason(JobState state)
{
    switch (state) {
    case JobState::cancelled:
        return "SlurmJobCancelled";
    case JobState::deadline:
        return "SlurmJobDeadline";
    default:
        return "SlurmJobEnded";
    }
}

std::string bound_message(const Pod &pod, const std::string &node, JobRef job)
{
    return std::format("Successfully assigned {} to {} by Slurm job {}.",
                       pod.key.str(), node, job.id);
}

std::string waste_message(const Pod &pod, std::uint32_t cpus, const Job &job)
{
    std::uint64_t memory = mebibytes_up(pod.requests.memory).value;
    std::uint64_t given = job.memory_per_cpu.value * job.cpus_per_task;
    bool rounded = given < memory + job.cpus_per_task;
    if (cpus >= job.cpus_per_task && (rounded || given == 0))
        return {};
    return std::format(
        " It asks for {} CPUs and {} MiB; its task has {} and {}, "
        "as the largest Pod of the gang needs.",
        cpus, memory, job.cpus_per_task, given);
}

std::string not_bound_message(JobRef job, const std::string &reason)
{
    return std::format(
        "Slurm job {} has a node, but the Pod cannot be bound to it: {}.",
        job.id, reason);
}

std::string adopting_message(JobRef job)
{
    return std::format(
        "Slurm lost the job of this running Pod; job {} accounts "
        "for it from now on.",
        job.id);
}

std::string not_adopted_message(const std::string &reason)
{
    return "Slurm lost the job of this running Pod, and a new one was "
           "rejected: " +
           reason + ".";
}

std::string suspended_message(JobRef job)
{
    return std::format(
        "Slurm job {} was suspended and is resumed: the containers of a Pod "
        "cannot be suspended. If it is suspended again, its Pods end.",
        job.id);
}

std::string suspended_again_message(JobRef job)
{
    return std::format("Slurm job {} was suspended again: it is cancelled, and "
                       "its Pods end.",
                       job.id);
}

std::string suspended_again_comment()
{
    return "It was suspended a second time.";
}

std::string uncounted_message(const Job &job, const std::string &claim)
{
    return std::format("job {}, which counted the devices of the shared "
                       "ResourceClaim {}, is {}: the Pods that use them end "
                       "with it",
                       job.ref.id, claim, state_name(job.state));
}

std::string kept_message(const std::string &pod)
{
    return std::format("its Pods are over; it counts devices that Pod {} uses "
                       "by a shared ResourceClaim",
                       pod);
}

std::string incomplete_gang_message(const Gang &gang)
{
    std::size_t have = count_waiting(gang) + count_done_before(gang);
    return std::format("{} of {} Pods of gang {} exist.", have, gang.minimum,
                       gang.key.name);
}

std::string no_group_message(const GroupRef &group)
{
    return std::string(path_of(group.api).kind) + " " + group.name +
           " does not exist yet.";
}

std::string former_group_message(const Gang &gang)
{
    return std::format("PodGroup {} was recreated: Slurm job {} belongs to the "
                       "earlier one.",
                       gang.key.name, gang.job->ref.id);
}

std::string no_seat_message(JobRef job, const std::string &reason)
{
    return std::format("Slurm job {} of its gang has no place for the Pod: {}.",
                       job.id, reason);
}

std::string no_room_message(JobRef job, const std::string &node)
{
    return std::format("Slurm job {} has node {}, and waits until containers "
                       "of ended jobs stop there.",
                       job.id, node);
}

std::string nowhere_message(const Predicate &predicate)
{
    if (predicate.text().empty())
        return "No Node without a taint can take the Pod: it waits for one.";
    return "No Node satisfies " + short_text(predicate) +
           ": the Pod waits for one.";
}

std::string given_up_message(JobRef job, const std::string &node,
                             const std::string &reason,
                             std::chrono::seconds pause)
{
    std::string what = node.empty() ? "was given up"
                                    : std::format("had node {}, which does not "
                                                  "suit the Pod",
                                                  node);
    return std::format("Slurm job {} {}: {}. Another job is requested in {} s.",
                       job.id, what, reason, pause.count());
}

std::string no_fitting_devices_message(const std::string &asked)
{
    return std::format("No Node that the Pod may have has devices that satisfy "
                       "{}: it waits for one.",
                       asked);
}

std::string no_volume_rights_message()
{
    return "The Pod has volume claims, and slurmk8sd may not read these: "
           "contribs/kubernetes/components/volumes is not installed.";
}

std::string no_device_gres_message()
{
    return "spec.resourceClaims is not supported here: k8s.conf has no "
           "DeviceGres";
}

std::string no_device_rights_message()
{
    return "The Pod needs resource claims, and slurmk8sd may not write these: "
           "contribs/kubernetes/components/devices is not installed.";
}

std::string no_extended_gres_message(const Pod &pod)
{
    return std::format("the resource {} is not supported by slurm-k8s-bridge "
                       "yet: k8s.conf has no DeviceGres",
                       pod.extended.front().amounts.front().resource);
}

std::string no_extended_rights_message()
{
    return "The Pod asks for extended resources, and slurmk8sd may not make "
           "claims for them: contribs/kubernetes/components/devices is not "
           "installed, or is of an earlier version.";
}

std::string no_extended_gate_message()
{
    return "the API server keeps no extendedResourceClaimStatus: its feature "
           "gate DRAExtendedResource is off";
}

std::string plugin_beside_slurmd_message(const std::string &node)
{
    return std::format(
        " Node {} offers it, but has a slurmd: there Slurm's jobs "
        "get the device of their index, and its device plugin "
        "chooses without asking Slurm.",
        node);
}

std::string claims_unlisted_message()
{
    return "The ResourceClaims, ResourceSlices and DeviceClasses of the "
           "cluster are not listed yet.";
}

std::string devices_uncompared_message()
{
    return "The agent is still comparing the Pod's claims with the devices of "
           "the cluster.";
}

std::string device_share_message(const std::string &ns)
{
    return std::format(
        "The selectors in ResourceClaims of namespace {} are expensive to "
        "evaluate for so many devices: the Pod waits until the namespace may "
        "have more of them evaluated.",
        ns);
}

std::string devices_unfit_message(const std::string &reason)
{
    return std::format(" The devices of the node that Slurm chose are not "
                       "suitable: {}.",
                       reason);
}

std::string claims_unreadable_message(const std::string &reason)
{
    return "The Pod's volume claims cannot be handled: " + reason + ".";
}

std::string volumes_wait_message(JobRef job, const std::string &reason)
{
    return "Slurm job " + std::to_string(job.id) +
           " has a node, and waits until the Pod's volumes are bound there." +
           (reason.empty() ? "" : " " + reason);
}

std::string too_many_predicates_message(std::size_t most)
{
    return std::format("Waiting Pods use the {} different node selections that "
                       "there are, but for a reserve: this one waits for them.",
                       most);
}

std::string too_many_in_namespace_message(std::size_t most)
{
    return std::format("Pods of this namespace have {} different node "
                       "selections already, and this one waits for them: "
                       "MaxNodeSelectionsPerNamespace={} in k8s.conf.",
                       most, most);
}

std::string submit_limit_message(const SubmitLimit &limit)
{
    return std::format("A job will be submitted when fewer Pods wait in Slurm: "
                       "{}={} in k8s.conf.",
                       limit.key, limit.number);
}

std::string submit_share_message(unsigned share, const SubmitLimit &limit)
{
    return std::format("A job will be submitted when fewer Pods of this "
                       "namespace wait in Slurm: its share is {}, by {}={} in "
                       "k8s.conf.",
                       share, limit.key, limit.number);
}

std::string submit_by_wish_message(const SubmitLimit &limit)
{
    return std::format("A job will be submitted when fewer Pods of this "
                       "namespace wait in Slurm by their own wish (held, for a "
                       "later time or for other jobs): {}={} in k8s.conf "
                       "leaves them half of its share.",
                       limit.key, limit.number);
}

std::string long_grace_message(const Pod &pod, std::chrono::seconds allowed)
{
    bool by_probe = pod.probe_grace > pod.grace_period;
    return std::format(
        "its terminationGracePeriodSeconds{} is {}, and {} is the most that "
        "Pods may have here, because containers that are being stopped keep it "
        "when their job ends: lower it, or ask an administrator to raise "
        "MaxGracePeriod in k8s.conf",
        by_probe ? " of a probe" : "",
        std::max(pod.grace_period, pod.probe_grace).count(), allowed.count());
}

std::string name_user_command(const std::string &ns)
{
    return "kubectl annotate namespace " + ns + " " + names::namespace_user +
           "=USER";
}

std::string submit_refused_message(const std::string &reason)
{
    return "No Slurm job could be submitted: " + reason + ".";
}

} // namespace bridge
