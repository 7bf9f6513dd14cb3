// SPDX-License-Identifier: GPL-2.0-or-later
// What each message changes in the owner thread's state.
#include "agent/owner/bridge.h"

#include "common/base/log.h"

#include <unordered_set>

namespace bridge {

namespace {

constexpr std::size_t batch = 256; // messages

} // namespace

Bridge::Bridge(std::shared_ptr<const Conf> conf, BridgePorts ports,
               Mailbox<Message> &mailbox)
    : mailbox_(mailbox), context_{std::move(conf), std::move(ports)}
{
    placement_.set_limit();
    context_.health.set_problem(start_problem,
                                "the first lists are not complete yet");
    context_.health.set_problem("prep/k8s", "not connected yet");
}

// The calendar follows the clock, which is a test's own in tests.
void Bridge::set_time(Clock::time_point now)
{
    using Wall = std::chrono::system_clock;
    context_.now = now;
    context_.wall = Wall::now() + std::chrono::duration_cast<Wall::duration>(
                                      now - Clock::now());
}

void Bridge::run()
{
    set_time(Clock::now());
    turn();
    while (!stopping_) {
        auto message = mailbox_.pop_until(next_deadline());
        set_time(Clock::now());
        // Messages that have arrived meanwhile are taken together, because a
        // turn looks at whole gangs.
        for (std::size_t n = 1; message; n++) {
            std::visit([this](auto &m) { on(m); }, *message);
            message = n < batch && !stopping_ ? mailbox_.pop_until(context_.now)
                                              : std::nullopt;
        }
        turn();
    }
}

void Bridge::handle(Message message, Clock::time_point now)
{
    set_time(now);
    std::visit([this](auto &m) { on(m); }, message);
    turn();
}

void Bridge::on(Listed<Pod> &pods)
{
    if (held_.postpone(pods))
        return;
    std::unordered_set<std::string> keep;
    for (Pod &pod : pods.objects) {
        keep.insert(pod.uid);
        placement_.share(pod);
        groups_.note(pod);
        if (held_.hold(pod, !first_.has_all_pods()))
            continue;
        pod.gang = groups_.gang_of(pod);
        outside_.note(pod, false);
        room_.note(pod);
        agenda_.wake(gangs_.put(std::move(pod)));
    }
    first_.add_pods(pods.source);
    for (const std::string &uid : held_.forget_but(pods.source, keep))
        groups_.forget(uid);
    for (const Pod &pod : gangs_.missing(pods.source, keep)) {
        outside_.note(pod, true);
        batch_pods_.forget(pod.uid);
        groups_.forget(pod.uid);
        auto uid = gangs_.remove(pod);
        GangEntry *entry = uid ? gangs_.find(*uid) : nullptr;
        room_.note_gone(pod, entry ? &entry->gang : nullptr);
        if (entry)
            entry->gang.unseen = true; // the list may be wrong: ask
        else if (uid)
            batch_pods_.forget(*uid);
        if (uid)
            agenda_.wake(*uid);
    }
}

void Bridge::on(Changed<Pod> &pod)
{
    if (held_.postpone(pod))
        return;
    placement_.share(pod.object);
    if (pod.deleted)
        batch_pods_.forget(pod.object.uid);
    if (pod.deleted)
        groups_.forget(pod.object.uid);
    else
        groups_.note(pod.object);
    if (pod.deleted)
        held_.forget(pod.object.uid);
    else if (held_.hold(pod.object, !first_.has_all_pods()))
        return;
    context_.health.count("pod");
    pod.object.gang = groups_.gang_of(pod.object);
    outside_.note(pod.object, pod.deleted);
    voice_.check(pod.object);
    if (!pod.deleted) {
        room_.note(pod.object);
        std::string uid = gangs_.put(std::move(pod.object));
        // its deletion may come in the same message
        record_ends(gangs_.find(uid)->gang);
        agenda_.wake(uid);
    } else if (auto uid = gangs_.remove(pod.object)) {
        GangEntry *entry = gangs_.find(*uid);
        room_.note_gone(pod.object, entry ? &entry->gang : nullptr);
        if (!entry)
            batch_pods_.forget(*uid);
        agenda_.wake(*uid);
    }
}

// Pods whose gang is known by now come as if they had come now.
void Bridge::release_held()
{
    for (Pod &pod : held_.ready()) {
        Changed<Pod> news{std::move(pod), false};
        on(news);
    }
}

void Bridge::on(GroupsListed &groups)
{
    GroupApi api = groups.api;
    GroupLooks::Number look = groups.look;
    groups_.take(groups);
    held_.answered(api, look);
    if (!groups_.table().settled())
        return;
    for (auto &held : held_.take_postponed())
        std::visit([this](auto &news) { on(news); }, held);
    release_held();
}

void Bridge::on(Changed<GroupSpec> &group)
{
    groups_.take(group);
}

void Bridge::on(Listed<Namespace> &namespaces)
{
    first_.add(FirstLists::List::namespaces);
    namespaces_.clear();
    for (Namespace &ns : namespaces.objects)
        namespaces_[ns.name] = std::move(ns);
    places_.set_namespaces(namespaces_.size());
    placement_.set_namespaces(namespaces_.size());
    attempts_.all_again();
}

void Bridge::on(Changed<Namespace> &ns)
{
    std::string name = ns.object.name;
    if (ns.deleted)
        namespaces_.erase(name);
    else
        namespaces_[name] = std::move(ns.object);
    places_.set_namespaces(namespaces_.size());
    placement_.set_namespaces(namespaces_.size());
    attempts_.all_again(name);
}

void Bridge::on(WatchState &state)
{
    if (state.error.empty())
        context_.health.solved(state.what);
    else
        context_.health.problem(state.what, state.error);
}

// Nothing is listed before the Lease is ours, so nothing is done either, and no
// write passes the gate without the Lease.
void Bridge::on(LeaseNews &news)
{
    standby_ = std::move(news.standby);
    if (!standby_.empty())
        log_info("standing by", {{"why", standby_}});
    if (news.problem.empty())
        context_.health.solved(lease_problem);
    else
        context_.health.problem(lease_problem, news.problem);
}

// This is for people only; whether a feature may be used is asked of
// context_.ports.access.
void Bridge::on(AccessNews &news)
{
    if (news.problem.empty())
        context_.health.solved(rights_problem);
    else
        context_.health.problem(rights_problem, news.problem);
    for (const auto &[feature, reason] : news.off)
        if (!features_off_.contains(feature))
            log_warning("a feature is off",
                        {{"feature", feature}, {"why", reason}});
    for (const auto &[feature, reason] : features_off_)
        if (!news.off.contains(feature))
            log_info("a feature is on again", {{"feature", feature}});
    features_off_ = std::move(news.off);
    release_held(); // of an API that may not be read any more
    sync_.change();
    attempts_.all_again();
}

void Bridge::on(Ask &ask)
{
    ask.question();
}

void Bridge::on(Reload &reload)
{
    context_.conf = std::move(reload.conf);
    places_.set_limits();
    placement_.set_limit();
    lists_.list_soon();
    sync_.change();
    attempts_.all_again();
}

void Bridge::on(Stop &)
{
    stopping_ = true;
}

} // namespace bridge
