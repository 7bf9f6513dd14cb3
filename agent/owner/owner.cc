// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/owner.h"

#include "agent/owner/status.h"
#include "common/base/log.h"

#include <utility>
#include <variant>

namespace bridge {

namespace {

constexpr std::size_t batch = 256; // messages

} // namespace

Owner::Owner(std::shared_ptr<const Conf> conf, BridgePorts ports,
             Mailbox<Message> &mailbox)
    : mailbox_(mailbox), to_(std::move(conf), std::move(ports), mailbox)
{
    to_.placement.set_limit();
    if (!to_.context.conf->schedule_pods) { // slurmctld may lack the plugin
        to_.context.health.set_problem(start_problem,
                                       "the Lease is not ours yet");
        return;
    }
    to_.context.health.set_problem(start_problem,
                                   "the first lists are not complete yet");
    to_.context.health.set_problem(plugin_problem, "not connected yet");
}

// The calendar follows the clock, which is a test's own in tests.
void Owner::set_time(Clock::time_point now)
{
    using Wall = std::chrono::system_clock;
    to_.context.now = now;
    to_.context.wall = Wall::now() + std::chrono::duration_cast<Wall::duration>(
                                         now - Clock::now());
}

void Owner::run()
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
            message = n < batch && !stopping_
                          ? mailbox_.pop_until(to_.context.now)
                          : std::nullopt;
        }
        turn();
        to_.context.health.time_turn(Clock::now() - to_.context.now);
    }
}

void Owner::handle(Message message, Clock::time_point now)
{
    set_time(now);
    std::visit([this](auto &m) { on(m); }, message);
    turn();
}

void Owner::on(Listed<Namespace> &namespaces)
{
    to_.first.add(FirstLists::List::namespaces);
    to_.namespaces.clear();
    for (Namespace &ns : namespaces.objects)
        to_.namespaces[ns.name] = std::move(ns);
    namespaces_changed();
    to_.attempts.all_again();
}

void Owner::on(Changed<Namespace> &ns)
{
    std::string name = ns.object.name;
    if (ns.deleted)
        to_.namespaces.erase(name);
    else
        to_.namespaces[name] = std::move(ns.object);
    namespaces_changed();
    to_.attempts.all_again(name);
}

// They share what is limited.
void Owner::namespaces_changed()
{
    to_.places.set_namespaces(to_.namespaces.size());
    to_.placement.set_namespaces(to_.namespaces.size());
}

void Owner::on(WatchState &state)
{
    if (state.error.empty())
        to_.context.health.solved(state.what);
    else
        to_.context.health.problem(state.what, state.error);
}

// Nothing is listed before the Lease is ours, so nothing is done either, and no
// write passes the gate without the Lease.
void Owner::on(LeaseNews &news)
{
    to_.context.standby = std::move(news.standby);
    if (!to_.context.standby.empty())
        log_info("standing by", {{"why", to_.context.standby}});
    if (news.problem.empty())
        to_.context.health.solved(lease_problem);
    else
        to_.context.health.problem(lease_problem, news.problem);
}

// This is for people only; whether a feature may be used is asked of
// to_.context.ports.access.
void Owner::on(AccessNews &news)
{
    if (news.problem.empty())
        to_.context.health.solved(rights_problem);
    else
        to_.context.health.problem(rights_problem, news.problem);
    for (const auto &[feature, reason] : news.off)
        if (!to_.context.features_off.contains(feature))
            log_warning("a feature is off",
                        {{"feature", feature}, {"why", reason}});
    for (const auto &[feature, reason] : to_.context.features_off)
        if (!news.off.contains(feature))
            log_info("a feature is on again", {{"feature", feature}});
    to_.context.features_off = std::move(news.off);
    release_held(); // of an API that may not be read any more
    to_.sync.sync_when_due();
    to_.attempts.all_again();
}

void Owner::on(Ask &ask)
{
    ask.question();
}

// Whether Slurm schedules Pods is a matter of threads, too.
void Owner::on(Reload &reload)
{
    bool before = to_.context.conf->schedule_pods;
    if (reload.conf->schedule_pods != before) {
        log_warning("SchedulePods takes effect by a restart");
        auto conf = std::make_shared<Conf>(*reload.conf);
        conf->schedule_pods = before;
        reload.conf = std::move(conf);
    }
    to_.context.conf = std::move(reload.conf);
    to_.places.set_limits();
    to_.placement.set_limit();
    to_.lists.list_soon();
    to_.sync.sync_when_due();
    to_.attempts.all_again();
}

void Owner::on(Stop &)
{
    stopping_ = true;
}

void Owner::wake_all()
{
    for (const auto &[uid, entry] : to_.gangs.all())
        to_.agenda.wake(uid);
}

MetricText Owner::metrics(MetricFormat format) const
{
    MetricText text(format);
    write_metrics(to_, text);
    return text;
}

std::string Owner::status_json() const
{
    return status_of(to_);
}

Result<Story> Owner::story(const StoryKey &key) const
{
    return story_of(to_, key);
}

} // namespace bridge
