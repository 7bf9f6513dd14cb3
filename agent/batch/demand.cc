// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand.h"

#include "common/base/text.h"
#include "common/slurm/job_queue.h"

#include <algorithm>
#include <iterator>

namespace bridge {

namespace {

std::uint64_t share(std::uint64_t all, std::uint32_t nodes)
{
    return (all + nodes - 1) / nodes;
}

// What it asks for on each of its nodes.
GresCounts gres_of(const Job &job, std::uint32_t nodes)
{
    GresCounts asked = asked_gres(job.gres_per_node);
    for (const auto &[kind, count] : asked_gres(job.gres_per_task))
        asked[kind] += share(count * job.tasks, nodes);
    return asked;
}

// Those that kubelets offer under the name of a resource. Of GRES without a
// type the first kind that k8s.conf lists is taken.
std::map<std::string, std::uint64_t> devices_of(const GresCounts &asked,
                                                const Conf &conf)
{
    std::map<std::string, std::uint64_t> devices;
    std::set<std::string> typed;
    for (const DeviceGres &known : conf.device_gres)
        if (auto found = asked.find(known.gres + ":" + known.type);
            known.is_resource() && found != asked.end()) {
            devices[known.name] = found->second;
            typed.insert(known.gres);
        }
    for (const DeviceGres &known : conf.device_gres)
        if (auto found = asked.find(known.gres);
            known.is_resource() && found != asked.end() &&
            typed.insert(known.gres).second)
            devices[known.name] = found->second;
    return devices;
}

bool shares_word(std::string_view list, std::string_view other)
{
    return std::ranges::any_of(all_parts(list, ','), [&](auto word) {
        return std::ranges::contains(all_parts(other, ','), word);
    });
}

// The features that a Node of the pool will have, as far as the constraint
// names them. Those of the form k8s-… are the agent's: it gives them to the
// nodes that suit a Pod.
std::string features_of(const NodePool &pool, std::string_view constraint,
                        const Conf &conf)
{
    std::string features = names::feature;
    for (const std::string &word :
         features_of_labels(conf.feature_labels, pool.labels))
        features += "," + word;
    if (!pool.partitions.empty())
        features += "," + pool.partitions;
    const std::string ours = std::string(names::feature) + "-";
    while (!constraint.empty()) {
        std::size_t end = constraint.find_first_of("&|,()[]*:");
        if (constraint.starts_with(ours))
            features += "," + std::string(constraint.substr(0, end));
        constraint.remove_prefix(std::min(end, constraint.size() - 1) + 1);
    }
    return features;
}

bool has_nodes_for(const NodePool &pool, const NodeDemand &demand,
                   const GresCounts &gres, const Job &job, const Conf &conf)
{
    if (demand.cpus > pool.cpus || demand.memory.value > pool.memory.value)
        return false;
    if (!pool.partitions.empty() &&
        !shares_word(pool.partitions, job.partition))
        return false;
    GresCounts has = node_gres(pool.gres);
    if (!std::ranges::all_of(gres, [&](const auto &one) {
            auto found = has.find(one.first);
            return found != has.end() && one.second <= found->second;
        }))
        return false;
    return may_have_features(job.features,
                             features_of(pool, job.features, conf));
}

NodeDemand demand_of(const Job &job, const Conf &conf)
{
    NodeDemand demand;
    demand.job = demand.leader = job.ref.id;
    demand.array = job.array_tasks != 0;
    demand.tasks = std::max(1U, job.array_tasks);
    demand.nodes = std::max(1U, job.min_nodes);
    std::uint64_t cpus = std::uint64_t{job.tasks} * job.cpus_per_task;
    demand.cpus = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(share(cpus, demand.nodes), UINT32_MAX));
    demand.memory = job.memory_per_node;
    if (job.memory_per_cpu.value != 0)
        demand.memory.value = job.memory_per_cpu.value * demand.cpus;
    GresCounts gres = gres_of(job, demand.nodes);
    demand.devices = devices_of(gres, conf);
    demand.whole_nodes = job.exclusive;
    for (const NodePool &pool : conf.node_pools)
        if (has_nodes_for(pool, demand, gres, job, conf))
            demand.pools.push_back(pool.name);
    return demand;
}

// Of the job, or of all its components. Empty if there is no pool for one of
// them.
std::vector<NodeDemand> parts_of(const Job &job, const Conf &conf)
{
    std::vector<NodeDemand> parts;
    if (job.components.empty())
        parts.push_back(demand_of(job, conf));
    for (const Job &component : job.components)
        parts.push_back(demand_of(component, conf));
    for (NodeDemand &part : parts)
        part.leader = job.ref.id;
    if (std::ranges::any_of(parts, &std::vector<std::string>::empty,
                            &NodeDemand::pools))
        parts.clear();
    return parts;
}

// It came from sbatch, and has no Pods.
bool waits_for_nodes(const Job &job)
{
    return job.state == JobState::pending && job.wants_nodes &&
           !job.tag.script.empty() && job.tag.uid.empty();
}

} // namespace

std::vector<NodeDemand> demands_of(const std::vector<Job> &jobs,
                                   const Conf &conf)
{
    std::vector<NodeDemand> demands;
    if (conf.node_pools.empty() || conf.batch_namespace.empty())
        return demands;
    std::vector<const Job *> waiting;
    for (const Job &job : jobs)
        if (waits_for_nodes(job))
            waiting.push_back(&job);
    std::ranges::stable_sort(waiting, std::ranges::greater{}, &Job::priority);
    std::uint64_t room = most_demand_pods;
    for (const Job *job : waiting) {
        auto parts = parts_of(*job, conf);
        if (parts.size() == 1)
            parts[0].tasks = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(parts[0].tasks, room / parts[0].nodes));
        std::uint64_t pods = 0;
        for (const NodeDemand &part : parts)
            pods += std::uint64_t{part.tasks} * part.nodes;
        if (pods == 0 || pods > room)
            continue;
        room -= pods;
        std::ranges::move(parts, std::back_inserter(demands));
    }
    return demands;
}

} // namespace bridge
