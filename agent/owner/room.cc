// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/room.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gang/flags.h"
#include "common/base/log.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// Polling interval while somebody waits on a dirty node: the end of ordinary
// jobs there is not reported.
constexpr std::chrono::seconds room_interval{2};
constexpr std::chrono::seconds resume_pause{5}; // one check for many nodes
// A Pod's new job may start beside the one that waits, if both fit.
constexpr std::chrono::seconds adoption_patience{5};

// Runs on a worker thread. Loads the nodes first, and then the jobs: see
// RoomAnswer.
Result<RoomAnswer> ask_room(Slurm &slurm, const std::vector<JobRef> &jobs)
{
    auto nodes = slurm.load_nodes();
    if (!nodes)
        return std::unexpected(nodes.error());
    auto states = slurm.load_states();
    if (!states)
        return std::unexpected(states.error());
    RoomAnswer answer{
        jobs, std::move(*nodes), {}, NodeGate::allocated(*states)};
    for (JobRef ref : jobs) {
        auto job = slurm.load(ref);
        if (job)
            answer.jobs.push_back(std::move(*job));
        else if (job.error().code != Code::not_found)
            return std::unexpected(job.error());
    }
    return answer;
}

// Runs on a worker thread.
Result<> drain_unless_drained(Slurm &slurm, const std::string &node)
{
    auto nodes = slurm.load_nodes();
    if (!nodes)
        return std::unexpected(nodes.error());
    bool drained = std::ranges::any_of(*nodes, [&](const SlurmNode &known) {
        return known.name == node && known.drained;
    });
    return drained ? Result<>{} : slurm.drain(node, names::gate_drain_reason);
}

} // namespace

void Room::queue_ordinary(JobRef job)
{
    gate_.wait(job);
    load_due_ = context_.now;
}

void Room::nodes_changed()
{
    gate_.set_nodes(to_.nodes.slurm_nodes(), to_.nodes.hybrid());
    to_.line.forget_nodes();
}

void Room::touch(const Gang &gang)
{
    for (const PodPtr &pod : gang.pods)
        if (pod->bound())
            gate_.touch(pod->node_name);
    gate_.touch_binding(gang.uid);
}

void Room::process()
{
    tell_nodes();
    std::erase_if(waits_, [this](const auto &wait) {
        GangEntry *entry = to_.gangs.find(wait.first);
        return !entry || !entry->gang.job ||
               entry->gang.job->ref != wait.second.job;
    });
    if (gate_.someone_waits() && !loading_ && load_due_ <= context_.now)
        load();
}

void Room::tell_nodes()
{
    const std::set<std::string> &dirty = gate_.dirty();
    to_.line.tell_nodes(to_.nodes.slurm_nodes(), dirty);
    if (!std::ranges::includes(dirty, dirty_before_)) {
        // a drain set by the gate may be over
        to_.sync.sync_by(context_.now + resume_pause);
    }
    if (dirty_before_ != dirty)
        dirty_before_ = dirty;
}

Clock::time_point Room::due() const
{
    Clock::time_point next = gate_.next_vanished_end();
    return gate_.someone_waits() && !loading_ ? std::min(next, load_due_)
                                              : next;
}

void Room::load()
{
    loading_ = true;
    load_due_ = context_.now + room_interval;
    to_.errands.ask([jobs = gate_.waiting()](
                        Slurm &slurm) { return ask_room(slurm, jobs); },
                    [this](const Result<RoomAnswer> &answer) { take(answer); });
}

void Room::take(const Result<RoomAnswer> &answer)
{
    loading_ = false;
    if (!answer) {
        context_.health.problem("slurmctld", answer.error().message);
        return;
    }
    context_.health.solved("slurmctld");
    NodeGate::Admitted admitted = gate_.admit(*answer);
    for (JobRef job : admitted.ordinary) {
        log_info("an ordinary job may start on a dirty node",
                 {{"JobId", job.id}});
        to_.line.send({.type = HookMessage::Type::start, .job = job});
    }
    for (const std::string &uid : admitted.gangs)
        to_.agenda.wake(uid);
}

bool Room::may_bind(GangEntry &entry, const Bind &bind)
{
    const Gang &gang = entry.gang;
    auto going = pods_by_node(gang, bind);
    for (const auto &[node, pods] : going) {
        auto room = gate_.room_for(gang, amounts_of(pods), node,
                                   to_.nodes.find(node), to_.foreign.on(node));
        if (room == NodeGate::Room::yes)
            continue;
        if (room == NodeGate::Room::ask_slurm) {
            gate_.wait(bind.job, gang.uid);
            load_due_ = std::min(load_due_, context_.now + room_interval);
        }
        blocked_[node].insert(gang.uid);
        wait_for_room(entry, bind.job, node);
        return false;
    }
    waits_.erase(gang.uid);
    for (const auto &[node, pods] : going)
        for (const PodPtr &pod : pods)
            gate_.record_binding(gang, pod->uid, node);
    return true;
}

// A slurmctld that crashed gave away what a living Pod uses. The new job of
// that Pod waits at the head of the queue until those that wait here leave.
// They leave all at once, together with any that come later: if they left one
// by one, backfill would put the next job into the room of each.
std::optional<Clock::time_point> Room::adoption_due(const std::string &node)
{
    std::optional<Clock::time_point> due;
    for (const auto &[uid, pods] : to_.gangs.living_on(node)) {
        const GangEntry *entry = to_.gangs.find(uid);
        if (!entry || !entry->gang.job || !adopts(entry->gang) ||
            entry->gang.job->state != JobState::pending)
            continue;
        Clock::time_point patience = entry->job_since + adoption_patience;
        due = due ? std::min(*due, patience) : patience;
    }
    return due;
}

// A placeholder job waits on its node no longer than BindTimeout. Then it is
// sent elsewhere. The node is drained first, so that its successor does not
// come back to it.
void Room::wait_for_room(GangEntry &entry, JobRef job, const std::string &node)
{
    Wait &wait = waits_[entry.gang.uid];
    if (wait.job != job)
        wait = {job, context_.now, false};
    Clock::time_point due = wait.since + context_.conf->bind_timeout;
    if (context_.now - wait.since >= room_interval)
        to_.voice.say(entry, no_room_message(job, node));
    bool runs = entry.gang.grouped && entry.gang.job &&
                entry.gang.job->state == JobState::running;
    auto adoption = adoption_due(node);
    if (runs) { // nothing is given up for one Pod that comes late
        to_.agenda.wake_at(entry, context_.now + room_interval);
    } else if (adoption && *adoption <= context_.now) {
        give_up_binding(entry.gang, "Pods wait for its node to be adopted");
        to_.agenda.wake(entry.gang.uid);
    } else if (context_.now < due) {
        to_.agenda.wake_at(entry, std::min({due, adoption.value_or(due),
                                            context_.now + room_interval}));
    } else if (!gate_.is_dirty(node)) {
        give_up_binding(entry.gang, "its node has no room");
        to_.agenda.wake(entry.gang.uid);
    } else if (!std::exchange(wait.draining, true)) {
        drain(entry.gang.uid, job, node);
    }
}

void Room::drain(const std::string &uid, JobRef job, const std::string &node)
{
    to_.errands.ask(
        [slurm_node = to_.nodes.slurm_name_of(node)](Slurm &slurm) {
            return drain_unless_drained(slurm, slurm_node);
        },
        [this, uid, job](const Result<> &done) { drained(uid, job, done); });
}

void Room::drained(const std::string &uid, JobRef job, const Result<> &done)
{
    auto wait = waits_.find(uid);
    GangEntry *entry = to_.gangs.find(uid);
    if (wait == waits_.end() || wait->second.job != job || !entry)
        return;
    if (done) {
        give_up_binding(entry->gang, "its node has no room");
        to_.agenda.wake(uid);
        return;
    }
    log_warning("failed, retrying", {{"action", "drain"},
                                     {"JobId", job.id},
                                     {"err", done.error().message}});
    wait->second.draining = false;
    to_.agenda.wake_at(*entry, context_.now + room_interval);
}

// Its object is gone: its containers may not be.
void Room::note_gone(const Pod &last, const Gang *gang)
{
    std::uint32_t cpus =
        gang ? cpus_of(*gang, last) : whole_cpus_up(last.requests.cpu);
    if (gate_.record_gone(last, cpus, context_.now))
        log_warning("a Pod is gone that has not ended: its node counts as in "
                    "use for the rest of its grace period",
                    {{"Pod", last.key.str()}, {"Node", last.node_name}});
}

void Room::wake_blocked()
{
    std::set<std::string> freed = to_.gangs.pop_freed();
    freed.merge(gate_.drop_vanished(context_.now));
    for (const std::string &node : freed) {
        gate_.touch(node);
        if (gate_.someone_waits())
            load_due_ = context_.now;
        auto waiting = blocked_.extract(node);
        if (!waiting.empty())
            to_.agenda.wake(std::move(waiting.mapped()));
    }
}

} // namespace bridge
