// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/demand.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace bridge {

namespace {

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by)
{
    return number / by + (number % by != 0);
}

std::uint64_t count_of(const GresCounts &counts, const std::string &kind)
{
    auto found = counts.find(kind);
    return found == counts.end() ? 0 : found->second;
}

bool covers(const WorkerSize &has, const NodeShare &needs)
{
    return needs.cpus <= has.cpus && needs.memory.value <= has.memory.value &&
           std::ranges::all_of(needs.gres, [&](const auto &one) {
               return one.second <= count_of(has.gres, one.first);
           });
}

void take(WorkerSize &from, const NodeShare &share)
{
    from.cpus -= share.cpus;
    from.memory.value -= share.memory.value;
    for (const auto &[kind, count] : share.gres)
        from.gres[kind] -= count;
}

// How many nodes the job needs at least; nothing: no number suffices.
std::optional<std::uint64_t> nodes_needed(const WaitingJob &job,
                                          const WorkerSize &size)
{
    std::uint64_t usable = size.cpus;
    if (job.memory_per_cpu.value != 0)
        usable = std::min(usable, size.memory.value / job.memory_per_cpu.value);
    if (usable == 0)
        return std::nullopt;
    std::uint64_t nodes =
        std::max<std::uint64_t>(job.nodes, divided_up(job.cpus, usable));
    if (job.tasks_per_node != 0)
        nodes = std::max(nodes, divided_up(job.tasks, job.tasks_per_node));
    for (const auto &[kind, count] : job.gres_per_task) {
        std::uint64_t tasks =
            count == 0 ? job.tasks : count_of(size.gres, kind) / count;
        if (tasks == 0)
            return std::nullopt;
        nodes = std::max(nodes, divided_up(job.tasks, tasks));
    }
    for (const auto &[kind, count] : job.gres_per_job) {
        std::uint64_t there = count_of(size.gres, kind);
        if (there == 0 && count != 0)
            return std::nullopt;
        if (count != 0)
            nodes = std::max(nodes, divided_up(count, there));
    }
    return nodes;
}

// One NodeSet while jobs are given to it.
struct Filled {
    const SetFacts *facts = nullptr;
    std::uint32_t room = 0;   // how many more nodes it may use
    std::uint32_t demand = 0; // how many it uses
    std::uint32_t named = 0;  // so many workers must there be in any case
    std::vector<WorkerSize> open = {}; // what is left of those that jobs share

    std::uint32_t use(std::uint32_t nodes)
    {
        nodes = std::min(nodes, room);
        room -= nodes;
        demand += nodes;
        return nodes;
    }

    bool pack(const NodeShare &share)
    {
        for (WorkerSize &node : open)
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
            if (auto needs = share_of(job, *set.facts->size))
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
bool give(const std::vector<Candidate> &candidates, std::uint32_t elsewhere)
{
    if (candidates.front().needs.whole)
        return give_whole(candidates, elsewhere);
    return std::ranges::any_of(candidates, [](const Candidate &one) {
        return !one.needs.whole && one.set->pack(one.needs.share);
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

std::optional<JobShare> share_of(const WaitingJob &job, const WorkerSize &size)
{
    auto nodes = nodes_needed(job, size);
    if (!nodes || *nodes > most_autoscaled ||
        (job.max_nodes != 0 && *nodes > job.max_nodes) ||
        !may_have_features(job.features, size.features))
        return std::nullopt;
    JobShare made;
    made.nodes = static_cast<std::uint32_t>(*nodes);
    made.whole = job.whole_nodes || made.nodes > 1;
    made.share.cpus =
        std::max(job.cpus_per_node,
                 static_cast<std::uint32_t>(divided_up(job.cpus, *nodes)));
    made.share.memory.value = job.memory_per_cpu.value != 0
                                  ? job.memory_per_cpu.value * made.share.cpus
                                  : job.memory_per_node.value;
    made.share.gres = job.gres_per_node;
    for (const auto &[kind, count] : job.gres_per_task)
        made.share.gres[kind] += count * divided_up(job.tasks, *nodes);
    for (const auto &[kind, count] : job.gres_per_job)
        made.share.gres[kind] += divided_up(count, *nodes);
    if (!covers(size, made.share))
        return std::nullopt;
    return made;
}

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
            if (!give(candidates, elsewhere))
                break;
    }
    std::map<ObjectKey, std::uint32_t> wanted;
    for (const Filled &one : filled)
        wanted.emplace(one.facts->set->key, wished(one));
    return wanted;
}

} // namespace bridge
