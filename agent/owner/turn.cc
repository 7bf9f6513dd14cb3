// SPDX-License-Identifier: GPL-2.0-or-later
// One turn of the owner thread: gangs are decided, and lists are requested
// again when they are due.
#include "agent/owner/bridge.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

bool Bridge::pods_listed() const
{
    return first_.has_all_pods() && !held_.any_of_first();
}

bool Bridge::synced() const
{
    return pods_listed() && first_.has_the_rest();
}

void Bridge::turn()
{
    tick();
    if (!synced())
        return;
    if (context_.health.clear_problem(start_problem)) {
        log_info("in step with Slurm and Kubernetes, serving");
        early_hooks_.settle();
        room_.touch_all();
        sync_.change(); // nodes may have features that no Pod needs
    }
    room_.wake_blocked();
    if (auto change = devices_.pop_change())
        device_troubles_.wake_for(*change);
    // What is woken while this runs waits for the next turn of the loop.
    const std::set<std::string> woken = agenda_.take();
    // Jobs that already wait in Slurm are counted before any is added.
    for (const std::string &uid : woken)
        if (GangEntry *entry = gangs_.find(uid))
            places_.count(*entry);
    for (const std::string &uid : woken)
        reconcile(uid);
    for (const std::string &uid : places_.admit())
        agenda_.wake(uid);
    batch_pods_.process();
    batch_jobs_.process();
    room_.process();
    groups_.report_due();
}

void Bridge::tick()
{
    agenda_.ring();
    if (synced())
        placement_.drop_unused();
    if (node_deadline() <= context_.now)
        sync_node_list();
    // Only once the Pods are known: a job that has ended and has no Pod is
    // skipped, and its Pod must not be taken for one that never had a job.
    if (pods_listed() && lists_.list_due() <= context_.now)
        lists_.request_list();
    if (lists_.look_due() <= context_.now) {
        look_at_states();
        if (synced())
            early_hooks_.settle();
    }
    if (grace_.due() <= context_.now)
        grace_.request();
}

void Bridge::look_at_states()
{
    bool waits = std::ranges::any_of(gangs_.all(), [](const auto &known) {
        const Gang &gang = known.second.gang;
        return gang.job && gang.job->state == JobState::pending;
    });
    bool lives = std::ranges::any_of(
        gangs_.living(), [](const auto &node) { return !node.second.empty(); });
    lists_.look(waits, lives);
}

Clock::time_point Bridge::next_deadline() const
{
    if (synced() && agenda_.any_woken())
        return context_.now;
    Clock::time_point next =
        std::min({lists_.look_due(), grace_.due(), agenda_.next()});
    if (pods_listed())
        next = std::min(next, lists_.list_due());
    next = std::min(next, node_deadline());
    if (synced())
        next =
            std::min({next, room_.due(), groups_.due(), batch_pods_.next_due(),
                      batch_jobs_.next_due(), placement_.next_drop()});
    return next;
}

void Bridge::wake_all()
{
    for (const auto &[uid, entry] : gangs_.all())
        agenda_.wake(uid);
}

void Bridge::reconcile(const std::string &uid)
{
    GangEntry *entry = gangs_.find(uid);
    if (entry)
        room_.touch(entry->gang);
    if (!entry || entry->in_flight)
        return; // its outcome wakes it again
    update_group(*entry);
    illness_.update(*entry);
    grace_.update(*entry);
    update_placement(*entry);
    batch_pods_.update(*entry);
    shared_claims_.update(*entry);
    entry->gang.unheard = entry->heard != line_.absences();
    het_jobs_.note(entry->gang);
    Decision decision = decide(entry->gang, nodes_.slurm_nodes());
    bool wants_submit = is_kind<Submit>(decision);
    // take() may forget the gang, and uid with it.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    std::string name = uid;
    if (const auto *step = std::get_if<OwnerStep>(&decision))
        take(*entry, *step);
    else if (auto &action = std::get<Action>(decision); may_act(*entry, action))
        dispatch(*entry, std::move(action));
    count_pending(name, wants_submit);
    groups_.report(name);
}

// Derives from the Nodes, and the devices there, what decide() needs.
void Bridge::update_placement(GangEntry &entry)
{
    Gang &gang = entry.gang;
    placement_.begin(entry);
    if (gang.pods.empty())
        return;
    if (has_resource_claims(gang) && device_facts_.update(entry))
        record_bind_delay(entry);
    if (!gang.nowhere.empty())
        return;
    placement_.finish(gang);
    if (gang.nowhere.empty())
        return;
    gang.nowhere += extended_.plugins_elsewhere(gang);
    if (!entry.excluded.empty())
        gang.nowhere += devices_unfit_message(entry.excluded_reason);
}

// Counts whether the gang takes one of the places that Pods may have in Slurm's
// queue.
void Bridge::count_pending(const std::string &uid, bool wants_submit)
{
    GangEntry *entry = gangs_.find(uid);
    bool held = entry && attempts_.is_held(*entry, Submit{});
    places_.decided(uid, entry, wants_submit && !held);
    if (!wants_submit)
        attempts_.withdrawn(uid);
}

void Bridge::on(GraceTimesLoaded &loaded)
{
    bool news = grace_.take(loaded);
    if (grace_.known())
        first_.add(FirstLists::List::grace_times);
    if (news)
        wake_all(); // what lives, and what was refused
}

} // namespace bridge
