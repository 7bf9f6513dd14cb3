// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/set_keeper.h"

#include "common/base/log.h"
#include "common/slurm/node_state.h"

#include <algorithm>
#include <span>
#include <utility>

namespace bridge {

namespace {

// The reason of a node that is about to be removed.
constexpr char unusable[] = "slurm-operator: it is made anew";

// slurmctld reads the queue for us under its locks.
constexpr int queue_rest = 5; // times as long as that took

std::string joined(std::span<const std::string> names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ",") + name;
    return text;
}

// Jobs that wait could run there, now or soon, if others have not taken it out.
bool is_usable(const SlurmNode &record)
{
    return !record.drained && !record.down && !record.not_responding &&
           !record.reserved;
}

} // namespace

void SetKeeper::list(const std::string &ns, std::vector<WorkerSet> sets)
{
    listed_.insert(ns);
    std::erase_if(sets_, [&](const auto &one) { return one.first.ns == ns; });
    for (WorkerSet &set : sets)
        change(std::move(set));
    records_left_ = true;
}

void SetKeeper::change(WorkerSet set)
{
    records_left_ = true;
    ObjectKey key = set.key;
    if (is_of_others(set))
        sets_.erase(key);
    else
        sets_.insert_or_assign(std::move(key), std::move(set));
}

void SetKeeper::remove(const ObjectKey &key)
{
    records_left_ = true;
    sets_.erase(key);
    writing_.erase(key);
}

void SetKeeper::scaled(const SetScale &scale, const Result<> &done,
                       Clock::time_point now)
{
    auto known = writing_.find(scale.key);
    if (known == writing_.end())
        return;
    Writing &writing = known->second;
    writing.under_way = false;
    if (!done) {
        writing.error = done.error().message;
        writing.rests_until = now + writing.backoff.next(random_);
        return;
    }
    writing_.erase(known);
    // The watch may tell of it later.
    auto set = sets_.find(scale.key);
    if (set != sets_.end() && set->second.uid == scale.uid)
        set->second.replicas = scale.replicas;
}

std::string SetKeeper::failure() const
{
    for (const auto &[key, writing] : writing_)
        if (!writing.error.empty())
            return writing.error;
    return {};
}

bool SetKeeper::is_of_others(const WorkerSet &set) const
{
    return !controller_.empty() && set.controller != controller_;
}

std::set<std::string> SetKeeper::known_namespaces() const
{
    std::set<std::string> known;
    for (const std::string &ns : listed_)
        if (workers_.is_listed(ns) && !workers_.is_contested(ns))
            known.insert(ns);
    return known;
}

// Of a namespace with NodeSets of several Controllers nobody knows which are of
// this slurmctld, unless k8s.conf says it.
std::vector<const WorkerSet *> SetKeeper::followers() const
{
    std::map<std::string, std::set<std::string>> controllers;
    for (const auto &[key, set] : sets_)
        controllers[key.ns].insert(set.controller);
    auto known = known_namespaces();
    std::vector<const WorkerSet *> found;
    for (const auto &[key, set] : sets_)
        if (set.follows_queue() && known.contains(key.ns) &&
            controllers[key.ns].size() == 1)
            found.push_back(&set);
    return found;
}

Result<> SetKeeper::remove_records(const std::vector<std::string> &names)
{
    auto uses = slurm_.load_uses();
    if (!uses)
        return std::unexpected(uses.error());
    std::set<std::string> named;
    for (const NodeUse &use : *uses)
        named.insert(use.named.begin(), use.named.end());
    Result<> first;
    for (const std::string &name : names) {
        if (named.contains(name))
            continue;
        auto done = slurm_.delete_node(name);
        // A job has it, of the moment before it was set DOWN.
        if (!done && done.error().code == Code::rejected)
            (void)slurm_.set_down(name, unusable);
        if (done)
            log_info("removed the node of a worker that is not there",
                     {{"NodeName", name}});
        else if (first)
            first = std::move(done);
        if (!first && first.error().code == Code::busy)
            break;
    }
    return first;
}

Result<> SetKeeper::create_records(const WorkerSet &set,
                                   const std::vector<std::string> &names)
{
    PotentialNodes nodes = potential_nodes(set);
    nodes.made.names = names;
    std::string list = joined(names);
    auto done = slurm_queue_.create_future_nodes(nodes.made);
    if (done)
        done = slurm_.set_down(list, nodes.reason);
    if (done)
        done = slurm_.set_features(list, nodes.features, nodes.features);
    if (done)
        done = slurm_.rebuild_partitions();
    if (done)
        done = slurm_.set_extra(list, nodes.extra);
    if (done)
        log_info("slurmctld has the nodes of workers that may come",
                 {{"NodeSet", set.key.str()}, {"NodeName", list}});
    return done;
}

// What is removed is made anew at once: a job that comes in between would be
// refused.
Result<> SetKeeper::keep_records(const std::vector<const WorkerSet *> &sets,
                                 Clock::time_point now)
{
    if (now < records_due_)
        return {};
    std::set<std::string> taken;
    for (const auto &[key, pod] : workers_.pods())
        taken.insert(pod.slurm_node);
    auto plan = [&] {
        return plan_potential(sets, known_namespaces(), workers_.nodes(),
                              taken);
    };
    PotentialPlan first = plan();
    records_left_ = !first.remove.empty();
    if (first.remove.empty() && first.create.empty())
        return {};
    partitions_due_ = {};
    Result<> done;
    if (records_left_) {
        done = remove_records(first.remove);
        if (auto read = workers_.look(); !read)
            return read;
        first = plan();
        records_due_ = now + worker_records_interval;
    }
    for (const WorkerSet *set : sets)
        if (auto names = first.create.find(set->key);
            done && names != first.create.end())
            done = create_records(*set, names->second);
    if (!done && done.error().code != Code::busy)
        records_due_ = now + worker_refused_interval;
    if (auto read = workers_.look(); !read)
        return read;
    return done;
}

Result<> SetKeeper::read_queue(Clock::time_point now)
{
    if (now < queue_due_)
        return {};
    bool whole = !queue_ || queue_old_ <= now;
    Clock::time_point began = Clock::now();
    auto queue = slurm_queue_.load_queue_since(whole ? 0 : queue_->as_of);
    if (!queue) {
        queue_.reset();
        return std::unexpected(queue.error());
    }
    queue_due_ = now + queue_rest * (Clock::now() - began);
    if (whole)
        queue_old_ = now + queue_refresh_interval;
    if (*queue)
        queue_ = std::move(**queue);
    if (queue_->waiting.empty() || now < partitions_due_)
        return {};
    auto partitions = slurm_.load_partitions();
    if (!partitions)
        return std::unexpected(partitions.error());
    partitions_ = std::move(*partitions);
    partitions_due_ = now + queue_refresh_interval;
    return {};
}

void SetKeeper::count_worker(SetFacts &facts, const WorkerPod &pod,
                             std::chrono::sys_seconds wall) const
{
    const SlurmNode *record = workers_.record(pod.slurm_node);
    if (record && !is_node_of(*record, pod))
        record = nullptr;
    if (queue_->busy.contains(pod.slurm_node)) {
        facts.busy++;
    } else if (pod.over || pod.ending) {
        return; // it goes, and comes back if it is wanted
    } else if (pod.cordoned ||
               (record && !is_usable(*record) && !may_resume(*record))) {
        facts.blocked++;
    } else {
        auto since = pod.created;
        auto idle = idle_since_.find(pod.slurm_node);
        if (record && idle != idle_since_.end())
            since = std::max(since, idle->second);
        if (wall - since < facts.set->potential->idle_time)
            facts.fresh++;
        else
            facts.stale++;
    }
}

SetFacts SetKeeper::facts_of(const WorkerSet &set,
                             std::chrono::sys_seconds wall) const
{
    SetFacts facts{.set = &set, .size = {}, .partitions = {}};
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < set.potential->range.most; i++) {
        std::string name = set.potential->node(i);
        const SlurmNode *record = workers_.record(name);
        if (!record)
            continue;
        if (!facts.size)
            facts.size = NodeCapacity{
                record->usable_cpus, record->usable_memory,
                node_gres(record->gres), potential_nodes(set).features};
        names.insert(std::move(name));
    }
    for (const Partition &partition : partitions_)
        if (std::ranges::any_of(partition.nodes, [&](const std::string &node) {
                return names.contains(node);
            }))
            facts.partitions.insert(partition.name);
    for (const auto &[key, pod] : workers_.pods())
        if (key.ns == set.key.ns && pod.node_set == set.key.name)
            count_worker(facts, pod, wall);
    return facts;
}

// Idle times are read again when somebody seems to have been idle for long.
Result<std::vector<SetFacts>>
SetKeeper::find_facts(const std::vector<const WorkerSet *> &sets,
                      std::chrono::sys_seconds wall)
{
    auto find = [&] {
        std::vector<SetFacts> facts;
        for (const WorkerSet *set : sets)
            facts.push_back(facts_of(*set, wall));
        return facts;
    };
    auto facts = find();
    if (std::ranges::all_of(facts,
                            [](const SetFacts &one) { return one.stale == 0; }))
        return facts;
    auto times = slurm_queue_.load_idle_times();
    if (!times)
        return std::unexpected(times.error());
    idle_since_ = std::move(*times);
    return find();
}

std::map<std::string, std::uint32_t>
SetKeeper::idle_elsewhere(const std::vector<const WorkerSet *> &sets) const
{
    auto is_ours = [&](const std::string &node) {
        return std::ranges::any_of(sets, [&](const WorkerSet *set) {
            return set->potential->number_of(node).has_value();
        });
    };
    std::map<std::string, std::uint32_t> idle;
    for (const Partition &partition : partitions_)
        for (const std::string &node : partition.nodes) {
            const SlurmNode *record = workers_.record(node);
            if (record && !record->external && is_usable(*record) &&
                !has_jobs(record->state) && !is_ours(node))
                idle[partition.name]++;
        }
    return idle;
}

void SetKeeper::scale(const WorkerSet &set, std::uint32_t wanted,
                      Clock::time_point now)
{
    auto known = writing_.find(set.key);
    if (set.replicas == wanted) {
        if (known != writing_.end() && !known->second.under_way)
            writing_.erase(known);
        return;
    }
    Writing &writing = writing_[set.key];
    if (writing.under_way || now < writing.rests_until)
        return;
    writing.under_way = true;
    log_info("the queue changes the replicas of a NodeSet",
             {{"NodeSet", set.key.str()},
              {"from", std::to_string(set.replicas)},
              {"to", std::to_string(wanted)}});
    scaler_.begin({set.key, set.uid, wanted});
}

Result<> SetKeeper::turn(Clock::time_point now, std::chrono::sys_seconds wall)
{
    auto sets = followers();
    if (sets.empty() && !records_left_)
        return {};
    if (auto read = workers_.look(); !read)
        return read;
    auto kept = keep_records(sets, now);
    if ((!kept && kept.error().code == Code::busy) || sets.empty())
        return kept;
    if (auto read = read_queue(now); !read)
        return read;
    auto facts = find_facts(sets, wall);
    if (!facts)
        return std::unexpected(facts.error());
    auto wanted = plan_replicas(*facts, queue_->waiting, idle_elsewhere(sets));
    for (const WorkerSet *set : sets)
        scale(*set, wanted.at(set->key), now);
    return kept;
}

} // namespace bridge
