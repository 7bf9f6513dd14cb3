// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/demand.h"

#include "agent/batch/pod.h"
#include "agent/objects/pool_node.h"
#include "common/base/text.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace bridge {

namespace {

// A pool as jobs see it.
struct Pool {
    const NodePool *conf;
    std::vector<std::string_view> partitions;
    NodeCapacity capacity; // its features are those of the Nodes to come
};

// The agent gives a node the feature of a predicate that its Node satisfies.
std::string features_of(const NodePool &pool, const Conf &conf)
{
    std::string features = names::feature;
    auto add = [&](const std::string &word) { features += "," + word; };
    for (const std::string &word :
         features_of_labels(conf.feature_labels, pool.labels))
        add(word);
    if (!pool.partitions.empty())
        add(pool.partitions);
    Node node = node_of_pool(pool);
    if (matches(Predicate(), node))
        add(names::untainted_feature);
    if (auto wanted = batch_predicate(conf); wanted && matches(*wanted, node)) {
        add(wanted->feature());
        add(names::batch_feature);
    }
    return features;
}

std::vector<Pool> pools_of(const Conf &conf)
{
    std::vector<Pool> pools;
    for (const NodePool &pool : conf.node_pools)
        pools.push_back({&pool,
                         all_parts(pool.partitions, ','),
                         {pool.cpus, pool.memory, node_gres(pool.gres),
                          features_of(pool, conf)}});
    return pools;
}

bool names_one_of(const Pool &pool, const std::vector<std::string> &partitions)
{
    return !pool.conf->partitions.empty() &&
           std::ranges::any_of(partitions, [&](const std::string &name) {
               return std::ranges::contains(pool.partitions, name);
           });
}

struct Place {
    const Pool *pool;
    JobShare needs;
};

std::optional<Place> place_for(const WaitingJob &job,
                               const std::vector<Pool> &pools)
{
    bool named = std::ranges::any_of(pools, [&](const Pool &pool) {
        return names_one_of(pool, job.partitions);
    });
    for (const Pool &pool : pools) {
        if (named ? !names_one_of(pool, job.partitions)
                  : !pool.conf->partitions.empty())
            continue;
        if (auto needs = share_of(job, pool.capacity))
            return Place{&pool, std::move(*needs)};
    }
    return std::nullopt;
}

// Nothing if no pool could run it.
std::optional<NodeDemand> demand_of(const Job &job,
                                    const std::vector<Pool> &pools)
{
    if (!job.waiting)
        return std::nullopt;
    auto place = place_for(*job.waiting, pools);
    if (!place)
        return std::nullopt;
    NodeDemand demand;
    demand.job = job.ref.id;
    demand.array = job.waiting->array;
    demand.tasks = job.waiting->count;
    demand.nodes = place->needs.nodes;
    demand.share = std::move(place->needs.share);
    demand.whole_nodes = job.waiting->whole_nodes;
    demand.pool = place->pool->conf->name;
    return demand;
}

// Of the job, or of all its components. Empty if there is no pool for one of
// them.
std::vector<NodeDemand> parts_of(const Job &job, const std::vector<Pool> &pools)
{
    std::vector<const Job *> all{&job};
    if (!job.components.empty()) {
        all.clear();
        for (const Job &component : job.components)
            all.push_back(&component);
    }
    std::vector<NodeDemand> parts;
    for (const Job *one : all) {
        auto demand = demand_of(*one, pools);
        if (!demand)
            return {};
        demand->leader = job.ref.id;
        parts.push_back(std::move(*demand));
    }
    return parts;
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
        if (job.state == JobState::pending && job.wants_nodes &&
            lacks_pods(job))
            waiting.push_back(&job);
    std::ranges::stable_sort(waiting, std::ranges::greater{}, &Job::priority);
    const std::vector<Pool> pools = pools_of(conf);
    std::uint64_t room = most_demand_pods;
    for (const Job *job : waiting) {
        if (room == 0)
            break;
        auto parts = parts_of(*job, pools);
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
