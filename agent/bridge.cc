// SPDX-License-Identifier: GPL-2.0-or-later
// What each message changes in what is known.
#include "agent/bridge.h"

#include "common/log.h"

#include <unordered_set>

namespace bridge {

Bridge::Bridge(std::shared_ptr<const Conf> conf, BridgePorts ports,
               Mailbox<Message> &mailbox)
    : conf_(std::move(conf)), ports_(std::move(ports)), mailbox_(mailbox),
      scheduler_count_(conf_->scheduler_names.size())
{
    quota_.set_limits(
        {conf_->max_pending_jobs, conf_->max_pending_in_namespace});
    health_.set_problem(start_problem, "the first lists are not complete yet");
    health_.set_problem("prep/k8s", "not connected yet");
}

void Bridge::run()
{
    now_ = Clock::now();
    turn();
    while (!stopping_) {
        auto message = mailbox_.pop_until(next_deadline());
        if (message) {
            handle(std::move(*message), Clock::now());
        } else {
            now_ = Clock::now();
            turn();
        }
    }
}

void Bridge::handle(Message message, Clock::time_point now)
{
    now_ = now;
    std::visit([this](auto &m) { on(m); }, message);
    turn();
}

void Bridge::on(Listed<Pod> &pods)
{
    listed_schedulers_.insert(pods.source);
    std::unordered_set<std::string> keep;
    for (Pod &pod : pods.objects) {
        keep.insert(pod.uid);
        placements_.share(pod);
        wake(gangs_.put(std::move(pod)));
    }
    for (const Pod &pod : gangs_.missing(pods.source, keep)) {
        auto uid = gangs_.remove(pod);
        if (GangEntry *entry = uid ? gangs_.find(*uid) : nullptr)
            entry->gang.unseen = true; // the list may be wrong: ask
        if (uid)
            wake(*uid);
    }
}

void Bridge::on(Changed<Pod> &pod)
{
    health_.count("pod");
    placements_.share(pod.object);
    if (!pod.deleted)
        wake(gangs_.put(std::move(pod.object)));
    else if (auto uid = gangs_.remove(pod.object))
        wake(*uid);
}

void Bridge::on(Listed<Node> &nodes)
{
    listed_nodes_ = true;
    if (nodes.objects.empty() && !nodes_.empty()) {
        problem(nodes_problem, "Kubernetes lists no Node at all any more: "
                               "nothing is changed in Slurm");
        return;
    }
    nodes_changed_ = true;
    auto before = std::exchange(nodes_, {});
    for (Node &node : nodes.objects) {
        note_node(node);
        before.erase(node.name);
        nodes_[node.name] = std::move(node);
    }
    for (const auto &[name, gone] : before)
        wake_living_on(name);
}

void Bridge::on(Changed<Node> &node)
{
    health_.count("node");
    auto known = nodes_.find(node.object.name);
    if (node.deleted) {
        wake_living_on(node.object.name); // which see that it is gone
        nodes_changed_ = nodes_.erase(node.object.name) != 0 || nodes_changed_;
        return;
    }
    note_node(node.object);
    if (known == nodes_.end() || !same_for_slurm(known->second, node.object)) {
        nodes_changed_ = true;
        nodes_due_ = now_; // whatever the others wait for
    }
    nodes_[node.object.name] = std::move(node.object);
}

void Bridge::on(Listed<Namespace> &namespaces)
{
    listed_namespaces_ = true;
    namespaces_.clear();
    for (Namespace &ns : namespaces.objects)
        namespaces_[ns.name] = std::move(ns);
    try_all_again();
}

void Bridge::on(Changed<Namespace> &ns)
{
    std::string name = ns.object.name;
    if (ns.deleted)
        namespaces_.erase(name);
    else
        namespaces_[name] = std::move(ns.object);
    for (auto &[uid, entry] : gangs_.all())
        if (entry.gang.key.ns == name)
            try_again(entry);
}

void Bridge::on(WatchState &state)
{
    if (state.error.empty())
        solved(state.what);
    else
        problem(state.what, state.error);
}

void Bridge::on(NodesSynced &synced)
{
    syncing_nodes_ = false;
    forget_gone_nodes();
    if (!synced.result) {
        nodes_changed_ = true;
        nodes_due_ = now_ + std::chrono::seconds(2);
        problem(nodes_problem, synced.result.error().message);
        return;
    }
    bool changed = node_map_ != synced.result->nodes;
    synced_nodes_ = true;
    take_placed(*synced.result);
    if (pinned_ != synced.result->pinned) {
        pinned_ = std::move(synced.result->pinned);
        changed = true;
    }
    node_map_ = std::move(synced.result->nodes);
    if (changed || hybrid_ != synced.result->hybrid) {
        hybrid_ = std::move(synced.result->hybrid);
        gate_.set_nodes(node_map_, hybrid_);
        talk_.bridge_said = false;
    }
    std::string words;
    for (const std::string &complaint : synced.result->complaints)
        words += (words.empty() ? "" : "; ") + complaint;
    if (words.empty())
        solved(nodes_problem);
    else
        problem(nodes_problem, words);
    if (synced.result->retry) {
        nodes_due_ = now_ + std::chrono::seconds(30);
        nodes_changed_ = true;
    }
    if (changed) // a job may be possible now
        try_all_again();
}

// Nothing is listed before the Lease is ours, so nothing is done either; and no
// write passes the gate without it.
void Bridge::on(LeaseNews &news)
{
    standby_ = std::move(news.standby);
    if (!standby_.empty())
        log_info("standing by", {{"why", standby_}});
    if (news.problem.empty())
        solved(lease_problem);
    else
        problem(lease_problem, news.problem);
}

// What a feature may do is asked of ports_.access; this is for people.
void Bridge::on(AccessNews &news)
{
    if (news.problem.empty())
        solved(rights_problem);
    else
        problem(rights_problem, news.problem);
    for (const auto &[feature, why] : news.off)
        if (!features_off_.contains(feature))
            log_warning("a feature is off", {{"feature", feature},
                                             {"why", why}});
    for (const auto &[feature, why] : features_off_)
        if (!news.off.contains(feature))
            log_info("a feature is on again", {{"feature", feature}});
    features_off_ = std::move(news.off);
    nodes_changed_ = true;
    try_all_again();
}

void Bridge::on(Ask &ask)
{
    ask.question();
}

void Bridge::on(Reload &reload)
{
    conf_ = std::move(reload.conf);
    quota_.set_limits(
        {conf_->max_pending_jobs, conf_->max_pending_in_namespace});
    list_jobs_soon();
    nodes_changed_ = true;
    try_all_again();
}

void Bridge::on(Stop &)
{
    stopping_ = true;
}

} // namespace bridge
