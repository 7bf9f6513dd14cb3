// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace bridge {

namespace {

// What the job has on that node; null: nothing.
const std::vector<JobGres> *gres_there(const Job &job, const std::string &name)
{
    auto found = std::ranges::find(job.nodes, name);
    auto at = static_cast<std::size_t>(found - job.nodes.begin());
    return at < job.gres_on.size() ? &job.gres_on[at] : nullptr;
}

// On one node. What a Pod asks for on each by annotation nobody counts here.
const std::string &gres_wishes(const JobDescription &asked)
{
    bool by_sbatch = !asked.tag.script.empty() && !asked.gres.empty();
    return by_sbatch ? asked.gres : asked.gres_per_task;
}

} // namespace

void FakeSlurm::schedule()
{
    for (auto &[id, record] : jobs_)
        if (record.job.state == JobState::pending && !held_.contains(id) &&
            record.leader == 0)
            try_start(record);
}

void FakeSlurm::backfill()
{
    for (auto &[id, record] : jobs_) {
        if (record.leader != id || record.job.state != JobState::pending)
            continue;
        auto before = jobs_;
        auto told = std::exchange(hooks, {});
        for (JobId one : components_of(id))
            try_start(jobs_.at(one));
        hooks = std::move(told);
        auto waits = [this](JobId one) {
            return jobs_.at(one).job.state == JobState::pending;
        };
        auto components = components_of(id);
        if (std::ranges::any_of(components, waits)) {
            jobs_ = std::move(before);
            return;
        }
        for (JobId one : components)
            tell(jobs_.at(one), HookMessage::Type::allocated);
    }
}

bool FakeSlurm::has_sibling_on(const Record &record,
                               const std::string &node) const
{
    return record.leader != 0 &&
           std::ranges::any_of(jobs_, [&](const auto &known) {
               return known.second.leader == record.leader &&
                      std::ranges::contains(known.second.job.nodes, node);
           });
}

std::optional<std::vector<JobGres>>
FakeSlurm::free_gres(const std::string &name, const std::string &wishes,
                     std::uint32_t tasks) const
{
    std::map<std::string, std::vector<std::string>> types; // of each index
    std::map<std::string, std::uint64_t> left; // of what has no indexes
    for (const std::string &part : split(nodes_.at(name).gres)) {
        auto words = split(part, ':'); // "gpu:a100:2"
        if (words.size() == 3)
            types[words[0]].insert(types[words[0]].end(), std::stoul(words[2]),
                                   words[1]);
        else if (words.size() == 2) // "gpumem:40"
            left[words[0]] = std::stoul(words[1]);
    }
    std::set<std::pair<std::string, std::uint32_t>> taken;
    for (const auto &[id, record] : jobs_)
        if (const auto *has = gres_there(record.job, name);
            has && is_allocated(record.job.state))
            for (const JobGres &one : *has) {
                for (std::uint32_t i : one.indexes)
                    taken.insert({one.gres, i});
                if (auto plain = left.find(one.gres); plain != left.end())
                    plain->second -= std::min(plain->second, one.count);
            }
    std::vector<JobGres> made;
    for (const std::string &wish : split(wishes)) {
        if (wish.empty())
            continue;
        auto words = split(wish.substr(sizeof("gres/") - 1), ':');
        JobGres one{words[0],
                    words.size() > 2 ? words[1] : "",
                    tasks * std::stoul(words.back()),
                    {}};
        if (auto plain = left.find(one.gres); plain != left.end()) {
            if (plain->second < one.count)
                return std::nullopt;
            plain->second -= one.count;
            made.push_back(std::move(one));
            continue;
        }
        const auto &of_it = types[one.gres];
        for (std::uint32_t i = 0; i < of_it.size(); i++)
            if (one.indexes.size() < one.count &&
                (one.type.empty() || one.type == of_it[i]) &&
                taken.insert({one.gres, i}).second)
                one.indexes.push_back(i);
        if (one.indexes.size() < one.count)
            return std::nullopt;
        made.push_back(std::move(one));
    }
    return made;
}

std::vector<std::uint32_t> FakeSlurm::free_cpus(const std::string &name,
                                                std::uint32_t count) const
{
    std::set<std::uint32_t> taken;
    for (const auto &[id, record] : jobs_) {
        const Job &job = record.job;
        if (!is_allocated(job.state))
            continue;
        for (std::size_t i = 0; i < job.cpu_ids_on.size(); i++)
            if (job.nodes[i] == name)
                taken.insert(job.cpu_ids_on[i].begin(),
                             job.cpu_ids_on[i].end());
    }
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; ids.size() < count; i++)
        if (!taken.contains(i))
            ids.push_back(i);
    return ids;
}

std::pair<std::uint32_t, std::uint64_t>
FakeSlurm::used_of(const std::string &node) const
{
    std::pair<std::uint32_t, std::uint64_t> used;
    for (const auto &[id, record] : jobs_)
        if (is_allocated(record.job.state) &&
            record.job.state != JobState::suspended && // Slurm forgets
            std::ranges::contains(record.job.nodes, node)) {
            auto [cpus, mib] = share_on(record, node);
            used.first += cpus;
            used.second += mib;
        }
    return used;
}

std::pair<std::uint32_t, std::uint64_t>
FakeSlurm::share_on(const Record &record, const std::string &node)
{
    const Job &job = record.job;
    if (job.cpus_on.empty())
        return {job.cpus, memory_of(record.asked)};
    auto at = std::ranges::find(job.nodes, node) - job.nodes.begin();
    std::uint32_t cpus = job.cpus_on[static_cast<std::size_t>(at)];
    return {cpus, job.memory_per_cpu.value * cpus};
}

bool FakeSlurm::start_on_several(Record &record)
{
    std::uint32_t left = record.asked.tasks;
    const std::uint32_t each = record.asked.cpus_per_task;
    Job job = record.job;
    job.gres_on.clear();
    job.cpu_ids_on.clear();
    job.cpus_on.clear(); // of an allocation that a crash has lost
    job.cpus = 0;
    for (const auto &[name, node] : nodes_) {
        auto [cpus, mib] = used_of(name);
        if (left == 0 || job.nodes.size() == record.asked.max_nodes ||
            node.drained || node.down || has_sibling_on(record, name) ||
            !has_features(node, record.asked.features))
            continue;
        std::uint32_t most = (node.cpus - cpus) / each;
        // one each for those that must follow
        std::uint32_t later = record.asked.min_nodes;
        later -= std::min<std::uint32_t>(
            later, static_cast<std::uint32_t>(job.nodes.size()) + 1);
        std::uint32_t tasks = std::min(most, left - std::min(left, later));
        const std::string &wishes = record.asked.gres_per_task;
        while (tasks != 0 && !free_gres(name, wishes, tasks))
            tasks--;
        if (tasks == 0)
            continue;
        job.gres_on.push_back(*free_gres(name, wishes, tasks));
        job.cpu_ids_on.push_back(free_cpus(name, tasks * each));
        job.devices |= !job.gres_on.back().empty();
        left -= tasks;
        job.nodes.push_back(name);
        job.cpus_on.push_back(tasks * each);
        job.cpus += tasks * each;
    }
    if (left != 0 || job.nodes.size() < 2)
        return false;
    record.job = std::move(job);
    return true;
}

void FakeSlurm::allocated(Record &record)
{
    record.job.state = JobState::configuring;
    record.job.reason.clear();
    record.prolog_held = true;
    if (may_open_by_itself(record))
        open_prolog(record);
    else
        tell(record, HookMessage::Type::allocated);
}

bool FakeSlurm::is_behind(const Record &record, const std::string &node) const
{
    auto tier_there = [&](const std::string &names) {
        std::vector<std::string> asked = split(names);
        int tier = -1;
        for (const Partition &one : partitions)
            if (std::ranges::contains(asked, one.name) &&
                std::ranges::contains(one.nodes, node))
                tier = std::max<int>(tier, one.tier);
        return tier;
    };
    return std::ranges::any_of(others, [&](const NodeUse &other) {
        return other.in_line && tier_there(other.partitions) >
                                    tier_there(record.asked.partition);
    });
}

void FakeSlurm::try_start(Record &record)
{
    if (record.job.reason == "BadConstraints" || record.job.priority == 0)
        return; // held
    std::uint32_t cpus = record.asked.tasks * record.asked.cpus_per_task;
    bool alone = record.asked.sharing == Sharing::nobody;
    for (const auto &[name, node] : nodes_) {
        auto [used_cpus, used_memory] = used_of(name);
        if (record.asked.min_nodes > 1 || node.drained || node.down ||
            has_sibling_on(record, name) || used_cpus + cpus > node.cpus ||
            (alone && used_cpus != 0) ||
            used_memory + memory_of(record.asked) > node.memory.value ||
            !has_features(node, record.asked.features) ||
            is_behind(record, name))
            continue;
        auto gres =
            free_gres(name, gres_wishes(record.asked), record.asked.tasks);
        if (!gres)
            continue;
        record.job.devices |= !gres->empty();
        record.job.gres_on = {std::move(*gres)};
        record.job.cpu_ids_on = {free_cpus(name, cpus)};
        record.job.nodes = {name};
        record.job.cpus = alone ? node.cpus : cpus;
        allocated(record);
        return;
    }
    if (record.asked.tasks > 1 && start_on_several(record)) {
        allocated(record);
        return;
    }
    record.job.reason = "Resources";
}

} // namespace bridge
