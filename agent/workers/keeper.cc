// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/keeper.h"

#include "common/base/log.h"
#include "common/slurm/node_state.h"
#include "common/slurm/queue.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

std::map<std::string, NodeJobs>
count_jobs(const std::vector<NodeHolder> &holders)
{
    std::map<std::string, NodeJobs> jobs;
    for (const NodeHolder &holder : holders)
        for (const std::string &node : holder.nodes) {
            NodeJobs &there = jobs[node];
            bool first = there.count++ == 0;
            if (first || !holder.end)
                there.end = holder.end;
            else if (there.end)
                there.end = std::max(*there.end, *holder.end);
        }
    return jobs;
}

} // namespace

void WorkerKeeper::list(const std::string &ns, std::vector<WorkerPod> pods,
                        const std::set<std::string> &others)
{
    listed_.insert(ns);
    records_left_ = true;
    std::erase_if(foreign_, [&](const ObjectKey &key) { return key.ns == ns; });
    std::map<ObjectKey, WorkerPod> listed;
    std::set<std::string> there = others;
    for (WorkerPod &pod : pods) {
        there.insert(pod.uid);
        if (is_of_others(pod))
            foreign_.insert(pod.key);
        else
            listed.insert_or_assign(pod.key, std::move(pod));
    }
    std::vector<ObjectKey> missing;
    for (const auto &[key, pod] : pods_)
        if (key.ns == ns && !listed.contains(key))
            missing.push_back(key);
    for (const ObjectKey &key : missing)
        if (WorkerPod pod = take_out(key); !there.contains(pod.uid))
            gone_.push_back(std::move(pod));
    for (auto &[key, pod] : listed)
        change(std::move(pod));
}

WorkerPod WorkerKeeper::take_out(const ObjectKey &key)
{
    auto known = pods_.extract(key);
    records_left_ = true;
    confirmed_.erase(known.mapped().uid);
    writes_.forget(known.mapped().uid);
    unprotecting_.erase(known.mapped().uid);
    refused_.erase(known.mapped().uid);
    due_.erase(key);
    return std::move(known.mapped());
}

void WorkerKeeper::change(WorkerPod pod)
{
    auto known = pods_.find(pod.key);
    if (known != pods_.end() && known->second.uid != pod.uid)
        gone_.push_back(take_out(pod.key));
    if (is_of_others(pod)) {
        foreign_.insert(pod.key);
        return disown(pod.key);
    }
    writes_.told(pod.uid);
    ObjectKey key = pod.key;
    due_.insert(key);
    pods_.insert_or_assign(std::move(key), std::move(pod));
}

void WorkerKeeper::remove(const WorkerPod &pod)
{
    foreign_.erase(pod.key);
    auto known = pods_.find(pod.key);
    if (known != pods_.end() && known->second.uid == pod.uid)
        gone_.push_back(take_out(pod.key));
}

void WorkerKeeper::disown(const ObjectKey &key)
{
    if (pods_.contains(key))
        take_out(key);
}

void WorkerKeeper::written(const ObjectKey &key, const std::string &uid,
                           const Result<> &done, Clock::time_point now)
{
    auto known = pods_.find(key);
    if (known == pods_.end() || known->second.uid != uid)
        return;
    if (auto made = writes_.written(uid, done, now))
        apply(known->second, *made);
    due_.insert(key);
}

bool WorkerKeeper::is_of_others(const WorkerPod &pod) const
{
    return !controller_.empty() && pod.controller != controller_;
}

// Two agents that answered for one Pod would take back each other's words.
Result<> WorkerKeeper::find_contested()
{
    contested_.clear();
    std::map<std::string, std::string> controllers; // the first, by namespace
    Result<> done;
    for (const auto &[key, pod] : pods_) {
        auto first = controllers.try_emplace(key.ns, pod.controller).first;
        if (first->second == pod.controller ||
            !contested_.insert(key.ns).second)
            continue;
        done = fail(Code::rejected,
                    "namespace " + key.ns + " has workers of Controllers \"" +
                        first->second + "\" and \"" + pod.controller +
                        "\": WorkerController in k8s.conf must name the one "
                        "of this slurmctld");
    }
    return done;
}

Result<> WorkerKeeper::read_nodes(bool afresh)
{
    auto table = slurm_.load_nodes_since(afresh ? 0 : table_.as_of);
    if (!table) {
        // It may come back from a time before the drains.
        confirmed_.clear();
        table_.as_of = 0;
        return std::unexpected(table.error());
    }
    if (!*table)
        return {};
    table_ = std::move(**table);
    jobs_old_ = true;
    for (const auto &[key, pod] : pods_)
        due_.insert(key);
    index_.clear();
    for (std::size_t i = 0; i < table_.nodes.size(); i++)
        index_[table_.nodes[i].name] = i;
    return {};
}

Result<> WorkerKeeper::read_jobs(Clock::time_point now)
{
    auto holders = slurm_.load_holders();
    if (!holders)
        return std::unexpected(holders.error());
    auto jobs = count_jobs(*holders);
    if (jobs_ != jobs)
        for (const auto &[key, pod] : pods_)
            due_.insert(key);
    jobs_ = std::move(jobs);
    jobs_old_ = false;
    jobs_due_ = now + worker_jobs_interval;
    jobs_read_ = now;
    return {};
}

// What an answer rests on: nodes, then jobs, of a slurmctld that had been
// started before.
Result<> WorkerKeeper::read_afresh(Clock::time_point now)
{
    auto cluster = slurm_.load_cluster();
    if (!cluster)
        return std::unexpected(cluster.error());
    slurmctld_ = cluster->started;
    read_ = static_cast<std::uint64_t>(
        std::chrono::system_clock::now().time_since_epoch() /
        std::chrono::seconds(1));
    if (auto read = read_nodes(true); !read)
        return read;
    return read_jobs(now);
}

// A node that seems idle, but had jobs when these were read, has a suspended
// one, or none any more.
bool WorkerKeeper::jobs_needed(Clock::time_point now) const
{
    if (!jobs_ || (jobs_old_ && jobs_due_ <= now))
        return true;
    if (now - jobs_read_ < worker_interval)
        return false;
    return jobs_old_ && std::ranges::any_of(pods_, [&](const auto &known) {
               const SlurmNode *record = record_of(known.second);
               return record && !has_jobs(record->state) &&
                      jobs_->contains(record->name);
           });
}

const SlurmNode *WorkerKeeper::record(const std::string &node) const
{
    auto found = index_.find(node);
    return found == index_.end() ? nullptr : &table_.nodes[found->second];
}

const SlurmNode *WorkerKeeper::record_of(const WorkerPod &pod) const
{
    return record(pod.slurm_node);
}

WorkerFacts WorkerKeeper::facts_of(const WorkerPod &pod) const
{
    WorkerFacts facts{.record = record_of(pod)};
    if (jobs_) {
        auto there = jobs_->find(pod.slurm_node);
        facts.jobs = there == jobs_->end() ? NodeJobs{} : there->second;
    }
    auto answer = confirmed_.find(pod.uid);
    facts.confirmed = answer != confirmed_.end() &&
                      answer->second.request == pod.request.number;
    facts.slurmctld = facts.confirmed ? answer->second.slurmctld : slurmctld_;
    facts.read = facts.confirmed ? answer->second.read : read_;
    return facts;
}

// The jobs of a node whose slurmd is gone would wait for SlurmdTimeout.
Result<> WorkerKeeper::set_gone_nodes_down()
{
    while (!gone_.empty()) {
        const WorkerPod &pod = gone_.back();
        const SlurmNode *record = record_of(pod);
        bool taken = std::ranges::any_of(pods_, [&](const auto &other) {
            return other.second.slurm_node == pod.slurm_node && record &&
                   is_node_of(*record, other.second);
        });
        if (record && is_node_of(*record, pod) && !record->down && !taken) {
            auto done =
                slurm_.set_down(record->name, gone_reason(*record, pod));
            if (!done && done.error().code == Code::busy)
                return done;
            records_left_ |= done.has_value(); // its reason may say so now
            if (done)
                log_info("a worker's Pod is gone, its node is set DOWN",
                         {{"NodeName", record->name}, {"Pod", pod.key.str()}});
            else if (done.error().code != Code::not_found)
                log_warning("a node without its Pod was not set DOWN",
                            {{"NodeName", record->name},
                             {"err", done.error().message}});
        }
        gone_.pop_back();
    }
    return {};
}

// Those whose Pods are gone, and whose reasons say that none comes back.
std::vector<const SlurmNode *> WorkerKeeper::left_records() const
{
    std::vector<const SlurmNode *> found;
    for (const SlurmNode &record : table_.nodes) {
        auto pod = gone_for_good(record);
        if (!pod || !listed_.contains(pod->ns) || pods_.contains(*pod) ||
            foreign_.contains(*pod))
            continue;
        bool taken = std::ranges::any_of(pods_, [&](const auto &other) {
            return other.second.slurm_node == record.name;
        });
        if (!taken)
            found.push_back(&record);
    }
    return found;
}

// What is left, as it has jobs or jobs name it, is tried again later.
Result<> WorkerKeeper::remove_records(Clock::time_point now)
{
    if (!records_left_ || now < records_due_)
        return {};
    auto records = left_records();
    records_left_ = !records.empty();
    if (records.empty())
        return {};
    records_due_ = now + worker_records_interval;
    auto uses = slurm_.load_uses();
    if (!uses)
        return std::unexpected(uses.error());
    // Also by jobs that have ended: each start of slurmctld would log an error
    // for them.
    std::set<std::string> named;
    for (const NodeUse &use : *uses)
        named.insert(use.named.begin(), use.named.end());
    for (const SlurmNode *record : records)
        if (auto done = remove_record(*record, named); !done)
            return done;
    return {};
}

Result<> WorkerKeeper::remove_record(const SlurmNode &record,
                                     const std::set<std::string> &named)
{
    bool has_job =
        has_jobs(record.state) || (jobs_ && jobs_->contains(record.name));
    if (has_job && !record.down) // nobody runs them
        return slurm_.set_down(record.name, record.reason);
    if (has_job || named.contains(record.name))
        return {};
    auto done = slurm_.delete_node(record.name);
    if (done) {
        index_.erase(record.name);
        log_info("removed the record of a node whose Pod is gone for good",
                 {{"NodeName", record.name}, {"reason", record.reason}});
        return {};
    }
    if (done.error().code == Code::busy)
        return done;
    // Such as one in a reservation.
    log_debug("the record of a node whose Pod is gone stays",
              {{"NodeName", record.name}, {"err", done.error().message}});
    return {};
}

Result<> WorkerKeeper::take_step(const WorkerPod &pod, const WorkerPlan &plan)
{
    Result<> done;
    const char *words = nullptr;
    if (plan.step == WorkerStep::drain) {
        done = slurm_.drain(pod.slurm_node, plan.reason);
        words = "drained the node of a worker";
    } else if (plan.step == WorkerStep::resume) {
        // Somebody may have drained it since the turn began.
        if (auto read = read_nodes(false); !read)
            return read;
        const SlurmNode *record = record_of(pod);
        if (!record || !may_resume(*record))
            return {};
        done = slurm_.resume(pod.slurm_node);
        words = "resumed the node of a worker";
    } else if (plan.step == WorkerStep::down) {
        done = slurm_.set_down(pod.slurm_node, plan.reason);
        words = "set the node of a worker DOWN";
    }
    if (words && done)
        log_info(words, {{"NodeName", pod.slurm_node},
                         {"Pod", pod.key.str()},
                         {"reason", plan.reason}});
    return done;
}

// What the Kubernetes Node says of the Slurm node.
Result<> WorkerKeeper::place(const WorkerPod &pod, const WorkerPlan &plan,
                             Clock::time_point now)
{
    if (!plan.topology && !plan.features) {
        refused_.erase(pod.uid);
        return {};
    }
    auto before = refused_.find(pod.uid);
    if (before != refused_.end() && now < before->second.until &&
        before->second.topology == plan.topology &&
        before->second.features == plan.features)
        return {};
    Result<> done;
    if (plan.features)
        done =
            slurm_.set_features(pod.slurm_node, *plan.features, *plan.features);
    if (plan.topology && done)
        done = slurm_.set_topology(pod.slurm_node, *plan.topology);
    if (done || done.error().code == Code::busy)
        return done;
    log_warning("slurmctld refuses what the Node says of a Slurm node",
                {{"NodeName", pod.slurm_node},
                 {"Pod", pod.key.str()},
                 {"err", done.error().message}});
    refused_[pod.uid] = {plan.topology, plan.features,
                         now + worker_refused_interval};
    return {};
}

std::set<std::string> WorkerKeeper::unprotected() const
{
    std::set<std::string> nodes;
    for (const auto &[key, pod] : pods_) {
        const SlurmNode *record = record_of(pod);
        // Also one that has not registered yet, but not that of somebody else.
        bool may_be_ours = !record || is_node_of(*record, pod) ||
                           record->address == no_address;
        bool keeps_label =
            pod.protect == "true" && !unprotecting_.contains(pod.uid);
        if (may_be_ours && !keeps_label && !contested_.contains(key.ns))
            nodes.insert(pod.slurm_node);
    }
    return nodes;
}

// The plugin is told first that the node is not protected. Only when no job has
// started for a while after that the label goes.
void WorkerKeeper::keep_label(const WorkerPod &pod, WorkerPlan &plan,
                              Clock::time_point now)
{
    if (pod.protect != "true" || !plan.protect.empty()) {
        unprotecting_.erase(pod.uid);
        return;
    }
    auto since = unprotecting_.try_emplace(pod.uid, now).first->second;
    if (now - since >= worker_interval)
        return;
    plan.protect = pod.protect;
    due_.insert(pod.key);
}

Result<> WorkerKeeper::serve(const WorkerPod &pod, Clock::time_point now)
{
    WorkerFacts facts = facts_of(pod);
    WorkerPlan plan = plan_worker(pod, facts);
    if (plan.needs_fresh) {
        if (!fresh_)
            if (auto read = read_afresh(now); !read)
                return read;
        fresh_ = true;
        facts = facts_of(pod);
        facts.fresh = true;
        plan = plan_worker(pod, facts);
    }
    if (!plan.drained)
        confirmed_.erase(pod.uid);
    else if (!facts.confirmed)
        confirmed_.insert_or_assign(
            pod.uid,
            DrainAnswer{pod.uid, pod.request.number, slurmctld_, read_});
    keep_label(pod, plan, now);
    bool told = writes_.carries(pod, plan, now);
    if (!told && !writes_.is_under_way(pod.uid))
        due_.insert(pod.key);
    // A node gets jobs only where it belongs.
    if (auto placed = place(pod, plan, now); !placed)
        return placed;
    if (!told && plan.step == WorkerStep::resume)
        return {};
    return take_step(pod, plan);
}

// All that is due, also after an error; but not after slurmctld has failed to
// answer, since each call waits for it.
Result<> WorkerKeeper::serve_due(Clock::time_point now)
{
    Result<> first;
    for (const ObjectKey &key : std::exchange(due_, {})) {
        bool is_away = !first && first.error().code == Code::busy;
        if (is_away || contested_.contains(key.ns)) {
            due_.insert(key);
            continue;
        }
        auto done = serve(pods_.at(key), now);
        if (done)
            continue;
        due_.insert(key);
        if (first || done.error().code == Code::busy)
            first = done;
    }
    return first;
}

Result<> WorkerKeeper::turn(Clock::time_point now)
{
    if (pods_.empty() && gone_.empty() && !records_left_)
        return {};
    fresh_ = false;
    if (auto read = read_nodes(false); !read)
        return read;
    if (jobs_needed(now))
        if (auto read = read_jobs(now); !read)
            return read;
    if (auto done = remove_records(now); !done)
        return done;
    if (auto done = set_gone_nodes_down(); !done)
        return done;
    Result<> contested = find_contested();
    auto served = serve_due(now);
    return served ? contested : served;
}

} // namespace bridge
