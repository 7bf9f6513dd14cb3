// SPDX-License-Identifier: GPL-2.0-or-later
// One turn of the owner thread: gangs are decided, and lists are requested
// again when they are due.
#include "agent/owner/owner.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gang/volumes.h"
#include "agent/owner/pod_ends.h"
#include "common/base/log.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bridge {

namespace {

// How long gangs are decided in one turn: a decision takes a fraction of a
// millisecond, and what arrives meanwhile waits.
constexpr std::chrono::milliseconds decide_time{24};

} // namespace

void Owner::turn()
{
    tick();
    if (!to_.synced())
        return;
    if (to_.context.health.clear_problem(start_problem)) {
        log_info("in step with Slurm and Kubernetes, serving");
        to_.early_hooks.settle();
        to_.room.touch_all();
        to_.sync.sync_when_due(); // nodes may have features that no Pod needs
    }
    to_.room.wake_blocked();
    if (auto change = to_.devices.pop_change())
        to_.device_troubles.wake_for(*change);
    // What is woken while this runs waits for the next turn of the loop.
    line_up(to_.agenda.take());
    decide_next();
    for (const std::string &uid : to_.places.admit())
        to_.agenda.wake(uid);
    to_.batch_pods.process();
    to_.batch_jobs.process();
    to_.room.process();
    to_.groups.report_due();
    to_.device_answers.ask_due(); // what this turn has found missing
}

// Does for all at once what must not wait for a gang's turn: which nodes the
// plugin may give to other jobs is told after this turn; how Pods ended is
// noted before they are deleted; and jobs that already wait in Slurm are
// counted before any is added.
void Owner::line_up(const std::set<std::string> &woken)
{
    for (const std::string &uid : woken)
        if (GangEntry *entry = to_.gangs.find(uid)) {
            to_.room.touch(entry->gang);
            note_ends(entry->gang);
            to_.places.count(*entry);
            (reads_claims(*entry) ? readers_ : others_)
                .add(entry->gang.key.ns, uid, is_placed(entry->gang));
        }
}

void Owner::note_ends(Gang &gang) const
{
    gang.batch = mark_of(gang, *to_.context.conf).has_value();
    record_ends(gang);
}

// When gangs have taken enough time, or claims have, the rest waits for the
// next turn, after what has arrived meanwhile. One at least is decided, and
// one that reads claims.
void Owner::decide_next()
{
    const auto &clock = to_.context.ports.clock;
    const Clock::time_point start = clock();
    auto has_time = [&](Clock::duration most) {
        return clock() - start < most;
    };
    to_.claim_needs.begin_turn();
    do {
        auto uid = others_.next();
        if (!uid)
            break;
        const GangEntry *entry = to_.gangs.find(*uid);
        if (entry && reads_claims(*entry)) // as it is now
            readers_.add(entry->gang.key.ns, *uid, is_placed(entry->gang));
        else
            reconcile(*uid);
    } while (has_time(readers_.empty() ? decide_time : decide_time / 2));
    do {
        auto uid = readers_.next();
        if (!uid)
            break;
        reconcile(*uid);
    } while (!to_.claim_needs.did_enough() && has_time(decide_time));
}

bool Owner::reads_claims(const GangEntry &entry) const
{
    return !entry.in_flight && has_resource_claims(entry.gang);
}

void Owner::tick()
{
    to_.agenda.ring();
    if (to_.synced())
        to_.placement.drop_unused();
    if (node_deadline() <= to_.context.now)
        sync_node_list();
    // Only once the Pods are known: a job that has ended and has no Pod is
    // skipped, and its Pod must not be taken for one that never had a job.
    if (to_.pods_listed() && to_.lists.list_due() <= to_.context.now)
        to_.lists.request_list();
    if (to_.lists.look_due() <= to_.context.now) {
        look_at_states();
        if (to_.synced())
            to_.early_hooks.settle();
    }
    if (to_.grace.due() <= to_.context.now)
        to_.grace.request();
    to_.device_answers.ask_due();
}

void Owner::look_at_states()
{
    JobLists::Wanted wanted;
    for (const auto &[uid, entry] : to_.gangs.all()) {
        const Gang &gang = entry.gang;
        bool waits = gang.job && gang.job->state == JobState::pending;
        wanted.waits |= waits;
        wanted.untold |= waits && entry.told.empty() && any_waits(gang);
    }
    wanted.lives = !to_.gangs.living().empty();
    to_.lists.look(wanted);
}

Clock::time_point Owner::next_deadline() const
{
    bool any = to_.agenda.any_woken() || !readers_.empty() || !others_.empty();
    if (to_.synced() && any)
        return to_.context.now;
    Clock::time_point next =
        std::min({to_.lists.look_due(), to_.grace.due(), to_.agenda.next(),
                  to_.device_answers.due()});
    if (to_.pods_listed())
        next = std::min(next, to_.lists.list_due());
    next = std::min(next, node_deadline());
    if (to_.synced())
        next = std::min({next, to_.room.due(), to_.groups.due(),
                         to_.batch_pods.next_due(), to_.batch_jobs.next_due(),
                         to_.placement.next_drop()});
    return next;
}

void Owner::reconcile(const std::string &uid)
{
    GangEntry *entry = to_.gangs.find(uid);
    if (entry)
        to_.room.touch(entry->gang);
    else
        to_.places.decided(uid, nullptr, false);
    if (!entry || entry->in_flight)
        return; // its outcome wakes it again
    derive(*entry);
    Decision decision = decide(entry->gang, to_.nodes.slurm_nodes());
    bool wants_submit = is_kind<Submit>(decision);
    // A step may forget the gang, and uid with it.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    std::string name = uid;
    if (const auto *step = std::get_if<OwnerStep>(&decision))
        to_.steps.take(*entry, *step);
    else if (auto &action = std::get<Action>(decision);
             to_.permission.may_act(*entry, action))
        to_.dispatch.begin(*entry, std::move(action));
    count_pending(name, wants_submit);
    to_.groups.report(name);
}

// Only this writes what follows from Nodes, other gangs and the time. Each part
// returns its facts; that which is above another here does not need those of
// the other.
void Owner::derive(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.of_batch = to_.batch_pods.update(entry);
    note_ends(gang);
    gang.times = to_.times.facts(entry);
    gang.lost_node_reason = to_.lost_nodes.lost_node_reason(entry);
    gang.grace = to_.grace.facts(entry);
    derive_placement(entry);
    gang.claims = to_.shared_claims.update(entry);
    gang.unheard = entry.heard != to_.line.absences();
    to_.het_jobs.note(gang);
}

// The devices that Pods need restrict where they may run.
void Owner::derive_placement(GangEntry &entry)
{
    Gang &gang = entry.gang;
    if (any_claims(gang))
        to_.volumes.refresh(entry);
    PlacementFacts before =
        std::exchange(gang.placement, to_.placement.begin(entry));
    if (gang.pods.empty())
        return;
    if (has_resource_claims(gang)) {
        DevicesFound found = to_.device_facts.facts(entry);
        gang.devices = std::move(found.devices);
        if (found.unanswered) {
            if (gang.devices)
                gang.placement = std::move(before);
            return;
        }
        gang.placement = std::move(found.placement);
        if (found.delay_binding)
            to_.attempts.bind_delayed(entry);
    }
    if (!gang.placement.nowhere.empty())
        return;
    gang.placement = to_.placement.finish(gang);
    std::string &nowhere = gang.placement.nowhere;
    if (nowhere.empty())
        return;
    nowhere += to_.extended.plugins_elsewhere(gang);
    if (!entry.excluded.empty())
        nowhere += devices_unfit_message(entry.excluded_reason);
}

// Counts whether the gang takes one of the places that Pods may have in Slurm's
// queue.
void Owner::count_pending(const std::string &uid, bool wants_submit)
{
    GangEntry *entry = to_.gangs.find(uid);
    bool held = entry && to_.attempts.is_held(*entry, Submit{});
    to_.places.decided(uid, entry, wants_submit && !held);
    if (!wants_submit)
        to_.attempts.withdrawn(uid);
}

} // namespace bridge
