// SPDX-License-Identifier: GPL-2.0-or-later
// What follows from what is known: gangs are decided, lists are asked for again
// when they are due.
#include "agent/bridge.h"

#include "agent/words.h"
#include "common/log.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::seconds states_interval{2}; // while something waits

bool waits_in_slurm(const GangEntry &entry)
{
    return entry.gang.job && entry.gang.job->state == JobState::pending;
}

} // namespace

bool Bridge::pods_listed() const
{
    return listed_schedulers_.size() >= scheduler_count_;
}

bool Bridge::synced() const
{
    return pods_listed() && listed_nodes_ && listed_namespaces_ &&
           loaded_jobs_ && synced_nodes_;
}

void Bridge::turn()
{
    tick();
    if (!synced())
        return;
    if (health_.clear_problem("start")) {
        log_info("in step with Slurm and Kubernetes, serving");
        settle_early_hooks();
    }
    // What is woken while this runs waits for the next turn of the loop.
    std::set<std::string> woken;
    woken.swap(woken_);
    for (const std::string &uid : woken)
        reconcile(uid);
}

void Bridge::tick()
{
    while (!timers_.empty() && timers_.begin()->first <= now_) {
        wake(timers_.begin()->second);
        timers_.erase(timers_.begin());
    }
    if (listed_nodes_ && nodes_changed_ && !syncing_nodes_ &&
        nodes_due_ <= now_)
        sync_node_list();
    // Only once the Pods are known: a job that has ended and has no Pod is
    // passed over, and its Pod must not be taken for one that never had a job.
    if (pods_listed() && jobs_due_ <= now_ && !loading_jobs_)
        load_jobs();
    if (states_due_ <= now_ && !loading_states_) {
        states_due_ = now_ + states_interval;
        if (std::ranges::any_of(gangs_.all(), [](const auto &known) {
                return waits_in_slurm(known.second);
            }))
            load_states();
        if (synced())
            settle_early_hooks();
    }
}

Clock::time_point Bridge::next_deadline() const
{
    if (synced() && !woken_.empty())
        return now_;
    Clock::time_point next = states_due_;
    if (!timers_.empty())
        next = std::min(next, timers_.begin()->first);
    if (pods_listed() && !loading_jobs_)
        next = std::min(next, jobs_due_);
    if (listed_nodes_ && nodes_changed_ && !syncing_nodes_)
        next = std::min(next, nodes_due_);
    return next;
}

void Bridge::wake_all()
{
    for (const auto &[uid, entry] : gangs_.all())
        wake(uid);
}

void Bridge::wake_at(Clock::time_point when, const std::string &uid)
{
    timers_.emplace(when, uid);
}

void Bridge::reconcile(const std::string &uid)
{
    GangEntry *entry = gangs_.find(uid);
    if (!entry || entry->in_flight)
        return; // the outcome wakes it again
    Action action = decide(entry->gang, node_map_);
    // It says whom the Pods run as, and is watched apart from them.
    if (std::holds_alternative<Submit>(action) &&
        !namespaces_.contains(entry->gang.key.ns))
        return;
    if (entry->held_back == action.index() && now_ < entry->held_until) {
        wake_at(entry->held_until, uid);
        return;
    }
    if (std::holds_alternative<Cancel>(action) && entry->orphan_since) {
        auto due = *entry->orphan_since + conf_->orphan_grace;
        if (now_ < due) { // its Pod may be about to be listed
            wake_at(due, uid);
            return;
        }
    }
    carry_out(*entry, std::move(action));
}

// What needs no call is done here; the rest goes to a worker.
void Bridge::carry_out(GangEntry &entry, Action action)
{
    Gang &gang = entry.gang;
    if (auto *wait = std::get_if<Wait>(&action)) {
        if (!wait->why.empty())
            tell(entry, wait->why);
    } else if (auto *refuse = std::get_if<Refuse>(&action)) {
        tell(entry, refused_words(refuse->why));
    } else if (auto *start = std::get_if<Start>(&action)) {
        ports_.send_hook(
            {.type = HookMessage::Type::start, .job = start->job});
        gang.prolog_held = false;
        gang.job->state = JobState::running;
    } else if (auto *clean = std::get_if<Clean>(&action)) {
        ports_.send_hook(
            {.type = HookMessage::Type::clean, .job = clean->job});
        gang.epilog_held = false;
        wake(gang.uid);
    } else if (std::holds_alternative<Forget>(action)) {
        gangs_.erase(std::string(gang.uid));
    } else {
        dispatch(entry, std::move(action));
    }
}

void Bridge::dispatch(GangEntry &entry, Action action)
{
    entry.in_flight = action.index();
    if (std::holds_alternative<Look>(action))
        entry.gang.stale = false; // a hint that comes meanwhile sets it again
    auto ns = namespaces_.find(entry.gang.key.ns);
    Namespace where =
        ns == namespaces_.end() ? Namespace{entry.gang.key.ns, {}, {}}
                                : ns->second;
    ports_.workers.push([this, action = std::move(action), gang = entry.gang,
                         conf = conf_, where = std::move(where)](Kube &kube) {
        auto kick = [this] {
            ports_.send_hook({.type = HookMessage::Type::kick});
        };
        ActionDone done{gang.uid, action, fail(Code::internal, "lost")};
        try {
            done.outcome =
                act(action, gang, {ports_.slurm, kube, conf, where, kick});
        } catch (const std::exception &e) {
            done.outcome = fail(Code::internal, e.what());
        }
        mailbox_.push(std::move(done));
    });
}

void Bridge::load_jobs()
{
    loading_jobs_ = true;
    jobs_asked_ = now_;
    ports_.workers.push([this](Kube &) {
        mailbox_.push(JobsLoaded{ports_.slurm.load_all()});
    });
}

void Bridge::load_states()
{
    loading_states_ = true;
    states_asked_ = now_;
    // Reasons and expected starts are in the full records only.
    if (now_ - jobs_asked_ >= conf_->reason_interval)
        jobs_due_ = now_;
    ports_.workers.push([this](Kube &) {
        mailbox_.push(StatesLoaded{ports_.slurm.load_states()});
    });
}

void Bridge::sync_node_list()
{
    syncing_nodes_ = true;
    nodes_changed_ = false;
    std::vector<Node> nodes;
    for (const auto &[name, node] : nodes_)
        nodes.push_back(node);
    ports_.workers.push([this, nodes = std::move(nodes), conf = conf_](Kube &) {
        mailbox_.push(NodesSynced{sync_nodes(nodes, ports_.slurm, *conf)});
    });
}

} // namespace bridge
