// SPDX-License-Identifier: GPL-2.0-or-later
// Small values for tests: Pods, jobs, gangs and Nodes with sensible contents.
#pragma once

#include "agent/gang/gang.h"
#include "agent/objects/gang_key.h"
#include "common/contract/names.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

inline Pod make_pod(const std::string &name, MilliCpu cpu = {1000},
                    Bytes memory = {1 << 20})
{
    Pod pod;
    pod.key = {"default", name};
    pod.uid = "uid-" + name;
    pod.resource_version = "1";
    pod.scheduler_name = "slurm";
    pod.phase = "Pending";
    pod.requests.cpu = cpu;
    pod.requests.memory = memory;
    return pod;
}

// What a Pod becomes.
inline Pod with_end(Pod pod, const std::string &phase)
{
    pod.phase = phase;
    return pod;
}

inline Pod with_deletion(Pod pod)
{
    pod.deleting = true;
    return pod;
}

inline Job make_job(JobId id, JobState state)
{
    Job job;
    job.ref = {id, Sluid{1000 + std::uint64_t{id}}};
    job.tag = {"default/web", "uid-web", 0};
    job.state = state;
    job.memory_per_node = MebiBytes{1};
    if (is_allocated(state)) {
        job.nodes = {"kn1"};
        job.cpus = 1;
    }
    return job;
}

// The job that is asked for a Pod, for slurm.plant().
inline JobDescription describe(const Pod &pod, std::uint32_t generation = 0)
{
    JobDescription job;
    job.name = pod.key.name;
    job.features = "k8s";
    job.memory_per_node = MebiBytes{1};
    job.tag = {pod.key.str(), pod.uid, generation};
    return job;
}

// As the binding of that job makes it.
inline Pod with_binding(Pod pod, const Job &job, const std::string &node)
{
    pod.node_name = node;
    pod.labels[names::job_id_label] = std::to_string(job.ref.id);
    pod.annotations[names::sluid_annotation] = job.ref.sluid.str();
    pod.annotations[names::node_annotation] =
        job.nodes.empty() ? node : job.nodes.front();
    pod.annotations[names::generation_annotation] =
        std::to_string(job.tag.generation);
    return pod;
}

inline PodPtr share(Pod pod)
{
    return std::make_shared<const Pod>(std::move(pod));
}

// The gang of one Pod, named after it.
inline Gang make_gang(Pod pod)
{
    Gang gang;
    gang.uid = pod.uid;
    gang.key = pod.key;
    gang.pods = {share(std::move(pod))};
    return gang;
}

// A Pod of the gang "train", as its label and its annotation make it.
inline Pod make_member(const std::string &name, const std::string &size,
                       MilliCpu cpu = {1000}, const std::string &least = {})
{
    Pod pod = make_pod(name, cpu);
    pod.annotations[names::gang_size_annotation] = size;
    if (!least.empty())
        pod.annotations[names::gang_min_annotation] = least;
    pod.gang = gang_key(pod.key, pod.owner, {{names::gang_label, "train"}},
                        pod.annotations);
    return pod;
}

// The gang of these, all of which it needs.
inline Gang make_train(std::vector<Pod> pods)
{
    Gang gang;
    gang.uid = "default/gang/train";
    gang.key = {"default", "train"};
    gang.grouped = true;
    gang.size = gang.minimum = pods.size();
    for (Pod &pod : pods)
        gang.pods.push_back(share(std::move(pod)));
    return gang;
}

// The job that is asked for them: on two nodes, of which the first has room for
// all but one.
inline Job make_train_job(JobState state, std::uint32_t tasks)
{
    Job job = make_job(7, state);
    job.tag = {"default/train", "default/gang/train", 0, "uid-a"};
    job.tasks = tasks;
    job.memory_per_node = {};
    job.memory_per_cpu = MebiBytes{1};
    if (is_allocated(state)) {
        job.nodes = {"kn1", "kn2"};
        job.cpus_on = {tasks - 1, 1};
        job.cpus = tasks;
    }
    return job;
}

// A ready Node that asks to be a Slurm node.
inline Node make_node(const std::string &name, std::int64_t cpus = 16,
                      std::int64_t mib = 64000)
{
    Node node;
    node.name = name;
    node.uid = "uid-" + name;
    node.resource_version = "1";
    node.ready = true;
    node.labels[names::external_node_label] = "true";
    node.allocatable.cpu = MilliCpu{cpus * 1000};
    node.allocatable.memory = Bytes{mib << 20};
    return node;
}

} // namespace bridge
