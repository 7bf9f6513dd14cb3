// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/translate.h"

#include "agent/decide/gang_shapes.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "common/contract/constraints.h"
#include "common/contract/names.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::uint32_t max_minutes = 365 * 24 * 60 * 10; // ten years

std::string unfit_pod_reason(const Gang &gang, const Pod &pod)
{
    if (!pod.unfit_reasons.empty())
        return pod.unfit_reasons.front();
    if (std::string reason = long_grace_reason(gang, pod); !reason.empty())
        return reason;
    if (!pod.label(names::job_id_label).empty() ||
        !pod.annotation(names::sluid_annotation).empty())
        return std::string("label ") + names::job_id_label +
               " and annotation " + names::sluid_annotation +
               " are written by slurmk8sd only: create the Pod without them";
    if (whole_cpus_up(pod.requests.cpu) > UINT16_MAX)
        return "no Slurm task can have more than 65535 CPUs";
    return {};
}

// Rounded up to minutes; nothing: the Pod has no deadline.
std::optional<std::uint32_t> time_limit_of(const Pod &pod)
{
    if (!pod.active_deadline || *pod.active_deadline <= 0)
        return std::nullopt;
    std::int64_t minutes = (*pod.active_deadline - 1) / 60 + 1;
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(minutes, max_minutes));
}

// A gang may run as long as any of its Pods.
std::optional<std::uint32_t> time_limit_of(const Gang &gang)
{
    std::uint32_t longest = 0;
    for (const PodPtr &pod : gang.grouped ? asked_for(gang) : gang.pods) {
        auto limit = time_limit_of(*pod);
        if (!limit)
            return std::nullopt;
        longest = std::max(longest, *limit);
    }
    return longest == 0 ? std::nullopt : std::optional(longest);
}

std::uint64_t divide_up(std::uint64_t amount, std::uint64_t by)
{
    return amount / by + (amount % by != 0);
}

// Sets the CPUs and the memory of a task that fits every Pod.
void size_task(JobDescription &job, const Gang &gang)
{
    MebiBytes memory{1};
    for (const PodPtr &pod : gang.grouped ? asked_for(gang) : gang.pods) {
        job.cpus_per_task = std::max(
            job.cpus_per_task, static_cast<std::uint16_t>(cpus_of(gang, *pod)));
        memory = std::max(memory, mebibytes_up(pod->requests.memory));
    }
    if (job.max_nodes == 1 && job.tasks == 1)
        job.memory_per_node = memory;
    else
        job.memory_per_cpu.value = divide_up(memory.value, job.cpus_per_task);
}

// The job as its Pods define it; users' requests are applied on top of it.
JobDescription plain_job(const Gang &gang)
{
    JobDescription job;
    job.name = gang.key.name;
    job.tasks = static_cast<std::uint32_t>(gang.grouped ? tasks_needed(gang)
                                                        : gang.pods.size());
    job.max_nodes = job.tasks;
    job.time_limit = time_limit_of(gang);
    job.tag = {gang.key.str(), gang.uid, generation_of(gang)};
    if (gang.grouped)
        job.tag.first = lead_of(gang).uid;
    job.tag.group = gang.group_uid;
    size_task(job, gang);
    return job;
}

// The features that every node of a gang must have. Without the first, external
// jobs could get nodes without kubelet.
std::vector<std::string> needed_features(const Gang &gang,
                                         const PredicatePtr &predicate)
{
    std::vector<std::string> features = {names::feature,
                                         value_of(predicate).feature()};
    if (gang.devices && gang.devices->on_cpu_nodes)
        features.push_back(names::cpu_devices_feature);
    return features;
}

// Says which Pod of the gang it is about, if there are several.
std::string named(const Gang &gang, const Pod &pod, const std::string &reason)
{
    return gang.pods.size() == 1 ? reason
                                 : "Pod " + pod.key.name + ": " + reason;
}

// A job has one value of each request: that of the first Pod; the others must
// not differ.
std::string unlike_pod_reason(const Pod &first, const Wishes &wishes,
                              const Pod &pod)
{
    for (const auto &[name, wish] : wishes_in(pod.annotations))
        if (value_of(wishes, name) != wish.value)
            return unfit_wish_reason(wish, "be the same on all Pods of a gang");
    if (value_of(pod.predicate) != value_of(first.predicate))
        return "all Pods of a gang must ask for the same Nodes: nodeSelector, "
               "required node affinity, tolerations";
    return {};
}

// Removes requests of a gang: a Pod that has lost its gang's job is alone on
// one node.
Gang without_gang_wishes(Gang gang)
{
    for (PodPtr &pod : gang.pods) {
        Pod alone = *pod;
        for (const char *name : {"min-nodes", "max-nodes", "segment"})
            for (auto wishes = wishes_in(alone.annotations);
                 wishes.contains(name); wishes = wishes_in(alone.annotations))
                alone.annotations.erase(wishes.at(name).annotation);
        pod = std::make_shared<const Pod>(std::move(alone));
    }
    return gang;
}

} // namespace

// The agent has made the Pods of batch jobs, so theirs is no wish of a user.
std::string long_grace_reason(const Gang &gang, const Pod &pod)
{
    bool asks = !gang.batch && waits(gang, pod);
    if (!asks ||
        std::max(pod.grace_period, pod.probe_grace) <= gang.grace.allowed)
        return {};
    return long_grace_message(pod, gang.grace.allowed);
}

std::string long_grace_reason(const Gang &gang)
{
    for (const PodPtr &pod : gang.grouped ? asked_for(gang) : gang.pods)
        if (std::string reason = long_grace_reason(gang, *pod); !reason.empty())
            return named(gang, *pod, reason);
    return {};
}

std::string unfit_to_join_reason(const Gang &gang, const Pod &of_job,
                                 const Wishes &asked, const Pod &pod)
{
    std::string reason = unfit_pod_reason(gang, pod);
    return reason.empty() ? unlike_pod_reason(of_job, asked, pod) : reason;
}

std::string unfit_reason(const Gang &gang)
{
    if (gang.pods.empty())
        return {};
    const Pod &first = lead_of(gang);
    Wishes wishes = wishes_in(first.annotations);
    for (const PodPtr &pod : gang.grouped ? asked_for(gang) : gang.pods) {
        if (gang.grouped && !waits(gang, *pod))
            continue;
        std::string reason = unfit_pod_reason(gang, *pod);
        if (reason.empty() && gang.grouped)
            reason = unlike_pod_reason(first, wishes, *pod);
        if (reason.empty() && pod.get() == &first) {
            JobDescription job = plain_job(gang);
            reason = apply_wishes(job, wishes, first.created);
            if (reason.empty())
                reason = unfit_het_job_reason(gang, job);
        }
        if (!reason.empty())
            return named(gang, *pod, reason);
    }
    return {};
}

JobDescription describe_job(const Gang &gang, const Identity &identity,
                            const Conf &conf)
{
    const Pod &first = lead_of(gang);
    JobDescription job = plain_job(gang);
    job.partition = conf.partition;
    job.nice = identity.nice;
    // This cannot fail: unfit_reason() has checked it.
    (void)apply_wishes(job, wishes_in(first.annotations), first.created);
    job.user_id = identity.user_id;
    job.group_id = identity.group_id;
    job.account = identity.account;
    job.qos = identity.qos;
    if (gang.devices) {
        job.gres_per_task = gang.devices->gres;
        job.tag.claims = gang.devices->counts;
    }
    // A job that failed once may have failed for its preference, so only the
    // first has one. Slurm tries the preference instead of the constraint: it
    // contains both.
    if (gang.placement.preferred && generation_of(gang) == 0)
        job.prefer = join_constraints(
            job.features, needed_features(gang, gang.placement.preferred));
    job.features = join_constraints(
        job.features, needed_features(gang, gang.placement.predicate));
    return job;
}

JobDescription describe_adoption(const Gang &gang, const Identity &identity,
                                 const Conf &conf, const Adopt &adopt,
                                 std::chrono::sys_seconds now)
{
    JobDescription job =
        describe_job(without_gang_wishes(gang), identity, conf);
    job.tag.generation = adopt.generation;
    // Requests about the choice of nodes and the start no longer apply.
    JobDescription plain = plain_job(gang);
    job.cpus_per_task = plain.cpus_per_task;
    job.memory_per_node = plain.memory_per_node;
    job.memory_per_cpu = plain.memory_per_cpu;
    job.min_nodes = plain.min_nodes;
    job.features =
        join_constraints({}, {names::feature, names::pin_prefix + adopt.node});
    job.prefer.clear();
    job.dependency.clear();
    job.begin = job.deadline = {};
    job.sharing = Sharing::all;
    job.contiguous = false;
    job.switches.reset();
    job.switches_wait.reset();
    job.segment = 0;
    job.nice = 0;
    job.priority = highest_priority;
    auto started = gang.pods.front()->start_time;
    if (job.time_limit.value_or(0) != 0 && started.time_since_epoch().count()) {
        auto ran = std::chrono::floor<std::chrono::minutes>(now - started);
        auto left = std::int64_t{*job.time_limit} - ran.count();
        job.time_limit = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(left, 1, *job.time_limit));
    }
    return job;
}

Result<std::vector<std::string>> place(const Gang &gang, const Job &job,
                                       const NodeMap &nodes)
{
    // This is for one node; a gang on several nodes needs the CPUs of each.
    if (job.nodes.size() != 1)
        return fail(Code::conflict, "the allocation has " +
                                        std::to_string(job.nodes.size()) +
                                        " nodes instead of 1");
    std::uint64_t cpus = 0;
    std::uint64_t memory = 0;
    for (const PodPtr &pod : gang.pods) {
        cpus += cpus_of(gang, *pod);
        if (pod->requests.memory.value != 0)
            memory += mebibytes_up(pod->requests.memory).value;
    }
    std::uint64_t given = job.memory_per_node.value != 0
                              ? job.memory_per_node.value
                              : job.memory_per_cpu.value * job.cpus;
    if (job.cpus < cpus || given < memory)
        return fail(Code::conflict,
                    "the allocation has " + std::to_string(job.cpus) +
                        " CPUs and " + std::to_string(given) +
                        " MiB, but the Pods ask for " + std::to_string(cpus) +
                        " CPUs and " + std::to_string(memory) + " MiB");
    auto node = nodes.find(job.nodes.front());
    if (node == nodes.end())
        return fail(Code::conflict, "Slurm node " + job.nodes.front() +
                                        " has no Kubernetes Node");
    return std::vector<std::string>(gang.pods.size(), node->second);
}

TextMap binding_labels(const Job &job)
{
    return {{names::job_id_label, std::to_string(job.ref.id)}};
}

TextMap keep_node_annotations(const Pod &pod)
{
    TextMap marks{{names::do_not_disrupt, "true"},
                  {names::safe_to_evict, "false"}};
    std::erase_if(marks, [&](const auto &mark) {
        return pod.annotations.contains(mark.first);
    });
    return marks;
}

TextMap binding_annotations(const Job &job, const Seat &seat)
{
    TextMap annotations = binding_annotations(job, seat.slurm_node);
    annotations[names::sluid_annotation] =
        component_on(job, seat.slurm_node).ref.sluid.str();
    annotations[names::rank_annotation] = std::to_string(seat.rank);
    std::string nodes;
    for (const std::string &node : job.nodes)
        nodes += (nodes.empty() ? "" : ",") + node;
    annotations[names::nodes_annotation] = std::move(nodes);
    return annotations;
}

TextMap binding_annotations(const Job &job, const std::string &slurm_node)
{
    return {{names::node_annotation, slurm_node},
            {names::sluid_annotation, job.ref.sluid.str()},
            {names::generation_annotation, std::to_string(job.tag.generation)}};
}

} // namespace bridge
