// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/demand.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bridge {

namespace {

void take(NodeCapacity &from, const NodeShare &share)
{
    from.cpus -= share.cpus;
    from.memory.value -= share.memory.value;
    for (const auto &[kind, count] : share.gres)
        from.gres[kind] -= count;
}

// One NodeSet while jobs are given to it.
struct Filled {
    const SetFacts *facts = nullptr;
    std::uint32_t room = 0;   // how many more nodes it may use
    std::uint32_t demand = 0; // how many it uses
    std::uint32_t named = 0;  // so many workers must there be in any case
    std::vector<NodeCapacity> open =
        {}; // what is left of those that jobs share

    std::uint32_t use(std::uint32_t nodes)
    {
        nodes = std::min(nodes, room);
        room -= nodes;
        demand += nodes;
        return nodes;
    }

    bool pack(const NodeShare &share)
    {
        for (NodeCapacity &node : open)
            if (covers(node, share)) {
                take(node, share);
                return true;
            }
        if (use(1) == 0)
            return false;
        open.push_back(*facts->size);
        take(open.back(), share);
        return true;
    }
};

struct Candidate {
    Filled *set;
    JobShare needs;
};

// Nobody else may have a part of its nodes.
bool is_whole(const WaitingJob &job, const JobShare &needs)
{
    return job.whole_nodes || needs.nodes > 1;
}

// In the order of the job's partitions.
std::vector<Candidate> candidates_of(const WaitingJob &job,
                                     std::vector<Filled> &sets)
{
    std::vector<Candidate> found;
    for (const std::string &partition : job.partitions)
        for (Filled &set : sets) {
            bool known = std::ranges::contains(found, &set, &Candidate::set);
            if (known || !set.facts->size ||
                !set.facts->partitions.contains(partition))
                continue;
            auto needs = share_of(job, *set.facts->size);
            if (needs && needs->nodes <= most_autoscaled)
                found.push_back({&set, std::move(*needs)});
        }
    return found;
}

// Names of nodes say which workers there must be: the operator makes those with
// the lowest numbers first.
void note_names(const WaitingJob &job, const Candidate &candidate)
{
    const PotentialWorkers &workers = *candidate.set->facts->set->potential;
    std::uint32_t named = 0;
    for (const std::string &node : job.required)
        if (auto number = workers.number_of(node);
            number && *number < workers.range.most)
            named = std::max(named, *number + 1);
    std::uint32_t excluded = 0;
    for (const std::string &node : job.excluded)
        if (auto number = workers.number_of(node);
            number && *number < workers.range.most)
            excluded++;
    if (excluded != 0)
        named = std::max(named, excluded + candidate.needs.nodes);
    candidate.set->named = std::max(candidate.set->named, named);
}

// Whether it has found room.
bool give_whole(const std::vector<Candidate> &candidates,
                std::uint32_t elsewhere)
{
    for (const Candidate &one : candidates)
        if (one.set->room >= one.needs.nodes) {
            one.set->use(one.needs.nodes);
            return true;
        }
    std::uint64_t room = elsewhere;
    std::uint32_t needed = 0; // where the most are
    for (const Candidate &one : candidates) {
        room += one.set->room;
        needed = std::max(needed, one.needs.nodes);
    }
    if (room < needed)
        return false;
    for (const Candidate &one : candidates)
        needed -= one.set->use(needed);
    return true;
}

// Whether a next one like it may find room.
bool give(const WaitingJob &job, const std::vector<Candidate> &candidates,
          std::uint32_t elsewhere)
{
    if (is_whole(job, candidates.front().needs))
        return give_whole(candidates, elsewhere);
    return std::ranges::any_of(candidates, [&](const Candidate &one) {
        return !is_whole(job, one.needs) && one.set->pack(one.needs.share);
    });
}

std::uint32_t wished(const Filled &filled)
{
    const SetFacts &facts = *filled.facts;
    const ReplicaRange &range = facts.set->potential->range;
    std::uint32_t used = facts.busy + facts.blocked;
    return std::clamp(
        std::max({used + filled.demand, used + facts.fresh, filled.named}),
        range.least, range.most);
}

} // namespace

std::map<ObjectKey, std::uint32_t>
plan_replicas(const std::vector<SetFacts> &sets, std::vector<WaitingJob> jobs,
              const std::map<std::string, std::uint32_t> &idle_elsewhere)
{
    std::vector<Filled> filled;
    for (const SetFacts &facts : sets) {
        std::uint32_t most = facts.set->potential->range.most;
        std::uint32_t used = facts.busy + facts.blocked;
        filled.push_back({&facts, most - std::min(most, used)});
    }
    std::ranges::sort(jobs, {}, [](const WaitingJob &job) {
        return std::tuple(~job.priority, job.id);
    });
    for (const WaitingJob &job : jobs) {
        auto candidates = candidates_of(job, filled);
        if (candidates.empty())
            continue;
        note_names(job, candidates.front());
        std::uint32_t elsewhere = 0;
        for (const std::string &partition : job.partitions)
            if (auto idle = idle_elsewhere.find(partition);
                idle != idle_elsewhere.end())
                elsewhere = std::max(elsewhere, idle->second);
        for (std::uint32_t i = 0; i < job.count; i++)
            if (!give(job, candidates, elsewhere))
                break;
    }
    std::map<ObjectKey, std::uint32_t> wanted;
    for (const Filled &one : filled)
        wanted.emplace(one.facts->set->key, wished(one));
    return wanted;
}

} // namespace bridge
