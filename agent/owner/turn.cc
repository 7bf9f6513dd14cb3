// SPDX-License-Identifier: GPL-2.0-or-later
// One turn of the owner thread: gangs are decided, and lists are requested
// again when they are due.
#include "agent/owner/bridge.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/job_requests.h"
#include "agent/decide/messages.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"
#include "common/slurm/reasons.h"

#include <algorithm>

namespace bridge {

namespace {

bool waits_in_slurm(const GangEntry &entry)
{
    return entry.gang.job && entry.gang.job->state == JobState::pending;
}

// Whether it has one of the places that Pods may have in Slurm's queue. Pods do
// not ask for the jobs of sbatch.
bool takes_place(const GangEntry &entry)
{
    return waits_in_slurm(entry) && entry.gang.job->tag.script.empty();
}

// Until a list shows the job, only the answer to its submit says that.
bool waits_by_wish(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (waits_in_slurm(entry))
        return gang.job->reason.empty() ? entry.by_wish
                                        : is_own_wish(gang.job->reason);
    return !gang.pods.empty() &&
           asks_to_wait(wishes_in(lead_of(gang).annotations),
                        lead_of(gang).created);
}

PendingQuota::Asker asker_of(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    return {gang.uid, gang.key.ns,
            gang.pods.empty() ? std::chrono::sys_seconds{}
                              : lead_of(gang).created,
            waits_by_wish(entry)};
}

} // namespace

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
        if (GangEntry *entry = gangs_.find(uid); entry && takes_place(*entry))
            quota_.count(asker_of(*entry));
    for (const std::string &uid : woken)
        reconcile(uid);
    for (const std::string &uid : quota_.admit())
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
        return waits_in_slurm(known.second);
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
    if (entry->gang.job && entry->gang.job->tag.components != 0)
        backfilled_.insert(uid);
    Action action = decide(entry->gang, nodes_.slurm_nodes());
    bool wants_submit = std::holds_alternative<Submit>(action);
    // carry_out() may forget the gang, and uid with it.
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    std::string name = uid;
    if (may_act(*entry, action))
        carry_out(*entry, std::move(action));
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
    bool asks = entry && (takes_place(*entry) || entry->gang.submit_uncertain ||
                          entry->in_flight == Action(Submit{}).index() ||
                          entry->in_flight == Action(Adopt{}).index());
    bool held = entry && attempts_.is_held(*entry, Submit{});
    bool in_line = wants_submit && entry && !held;
    if (asks)
        quota_.count(asker_of(*entry));
    else if (!in_line)
        quota_.leave(uid);
    if (!wants_submit)
        attempts_.withdrawn(uid);
}

// The Namespace says as whom the Pods run, and is watched separately. Whether
// the agent may read the owners of Pods is known only a moment after the start.
// So is which nodes count which devices: before, no node with a slurmd would
// seem to have those of a claim.
bool Bridge::may_submit(GangEntry &entry)
{
    const std::string &ns = entry.gang.key.ns;
    if (!namespaces_.contains(ns))
        return false;
    if (entry.gang.devices && entry.gang.devices->unknown) {
        agenda_.wake_at(entry, context_.now + device_pause);
        return false;
    }
    if (!context_.ports.access.answered()) {
        agenda_.wake_at(entry, context_.now + std::chrono::seconds(1));
        return false;
    }
    PendingQuota::Asker asker = asker_of(entry);
    auto full = quota_.full(ns, asker.by_wish); // as it is before this one
    if (quota_.may_ask(asker))
        return true;
    voice_.say(entry, line_message(full, asker.by_wish));
    return false;
}

// Says why a gang stands in line. The message has no number that changes while
// the queue moves, because it is written on each Pod.
std::string Bridge::line_message(PendingQuota::Full full, bool by_wish) const
{
    using Full = PendingQuota::Full;
    SubmitLimit all{"MaxPendingJobs", context_.conf->max_pending_jobs};
    SubmitLimit own{"MaxPendingJobsPerNamespace", quota_.share()};
    bool own_is_set = context_.conf->max_pending_in_namespace.value_or(0) != 0;
    if (full == Full::nothing) // others of its namespace stand before it
        full = by_wish ? Full::by_wish : Full::all;
    if (full == Full::by_wish)
        return submit_by_wish_message(own_is_set ? own : all);
    if (full == Full::in_namespace)
        return own_is_set ? submit_limit_message(own)
                          : submit_share_message(quota_.share(), all);
    return submit_limit_message(all.number != 0 ? all : own);
}

// Slurm gives away what the job of an adoption does not request, for as long as
// the Pod lives. So its devices should be known, but this does not wait for
// them for ever.
bool Bridge::may_adopt(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!namespaces_.contains(gang.key.ns))
        return false;
    if (!gang.devices || !gang.devices->unknown)
        return true;
    if (!entry.adoption_held_since)
        entry.adoption_held_since = context_.now;
    if (context_.now - *entry.adoption_held_since >= devices_patience)
        return true;
    agenda_.wake_at(entry, context_.now + device_pause);
    return false;
}

// Returns whether the action may be carried out now. If not, the gang is woken
// when it may be.
bool Bridge::may_act(GangEntry &entry, const Action &action)
{
    const Gang &gang = entry.gang;
    if (attempts_.is_held(entry, action)) {
        agenda_.wake_at(entry, entry.postponed_until);
        return false;
    }
    if (std::holds_alternative<Submit>(action)) {
        if (context_.now < entry.submit_after) {
            agenda_.wake_at(entry, entry.submit_after);
            return false;
        }
        return placement_.is_known(gang) && may_submit(entry);
    }
    if (const auto *adopt = std::get_if<Adopt>(&action)) {
        if (!pinned_.contains(adopt->node)) {
            sync_.change(); // the pins are derived from the gangs
            return false;
        }
        return may_adopt(entry);
    }
    if (std::holds_alternative<Cancel>(action) && entry.orphan_since) {
        auto due = *entry.orphan_since + context_.conf->orphan_grace;
        if (context_.now < due) // its Pod may be about to be listed
            agenda_.wake_at(entry, due);
        return context_.now >= due;
    }
    bool ends = std::holds_alternative<Cancel>(action) ||
                std::holds_alternative<Complete>(action) ||
                std::holds_alternative<Renew>(action);
    auto needed = [this](JobRef job) { return is_needed(job); };
    if (ends && gang.grouped &&
        std::ranges::any_of(refs_of(*gang.job), needed)) {
        agenda_.wake_at(entry, context_.now + std::chrono::seconds(1));
        return false;
    }
    if (const auto *bind = std::get_if<Bind>(&action))
        return shared_claims_.may_follow(entry, *bind) &&
               room_.may_bind(entry, *bind);
    return true;
}

// Carries out an action here if it needs no call; otherwise a worker does it.
void Bridge::carry_out(GangEntry &entry, Action action)
{
    Gang &gang = entry.gang;
    if (auto *wait = std::get_if<Wait>(&action)) {
        if (!wait->reason.empty() && !is_growing(entry) &&
            !device_troubles_.may_be_short(entry))
            voice_.say(entry, wait->reason);
    } else if (auto *refuse = std::get_if<Refuse>(&action)) {
        voice_.say(entry, submit_refused_message(refuse->reason));
    } else if (std::holds_alternative<Start>(action)) {
        for (JobRef job : refs_of(*gang.job)) // each component has its own hook
            line_.send({.type = HookMessage::Type::start, .job = job});
        gang.prolog_held = false;
        gang.job->state = JobState::running;
        // More Pods than the job has tasks may wait, or one may wait for its
        // kubelet.
        if (gang.grouped || gang.batch)
            agenda_.wake(gang.uid);
    } else if (std::holds_alternative<Clean>(action)) {
        for (JobRef job : refs_of(*gang.job))
            line_.send({.type = HookMessage::Type::clean, .job = job});
        gang.epilog_held = false;
        gang.bind_overdue |= gang.job->state == JobState::pending;
        agenda_.wake(gang.uid);
    } else if (std::holds_alternative<Find>(action)) {
        lists_.list_by(context_.now + answer_time); // one list for all
        agenda_.wake_at(entry, context_.now + answer_time);
    } else if (std::holds_alternative<Forget>(action)) {
        batch_pods_.clean_up(gang);
        gangs_.erase(std::string(gang.uid));
    } else if (auto *parts = std::get_if<Split>(&action)) {
        if (parts->late.empty())
            split(gang.uid);
        else
            groups_.split(parts->late);
    } else {
        dispatch(entry, std::move(action));
    }
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
