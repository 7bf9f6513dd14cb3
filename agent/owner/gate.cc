// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's half of the gate: tells prep/k8s which nodes are dirty, and
// decides who may start on them. NodeGate knows which nodes these are, and what
// fits there.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

namespace {

// Polling interval while somebody waits on a dirty node: the end of ordinary
// jobs there is not reported.
constexpr std::chrono::seconds room_interval{2};
constexpr std::chrono::seconds resume_pause{5}; // one check for many nodes
// A Pod's new job may start beside the one that waits, if both fit.
constexpr std::chrono::seconds adoption_patience{5};

} // namespace

// An ordinary job concerns the agent only because its node is dirty.
void Bridge::queue_ordinary_job(const HookMessage &hook)
{
    if (hook.dirty.empty())
        return;
    if (shadows_.contains(hook.job)) {
        line_.send({.type = HookMessage::Type::start, .job = hook.job});
        return;
    }
    gate_.wait(hook.job);
    room_due_ = context_.now;
}

void Bridge::touch_gate(const Gang &gang)
{
    for (const PodPtr &pod : gang.pods)
        if (pod->bound())
            gate_.touch(pod->node_name);
    gate_.touch_binding(gang.uid);
}

// Called once a turn, after all woken gangs are decided.
void Bridge::process_gate()
{
    send_node_lists();
    std::erase_if(room_waits_, [this](const auto &wait) {
        GangEntry *entry = gangs_.find(wait.first);
        return !entry || !entry->gang.job ||
               entry->gang.job->ref != wait.second.job;
    });
    if (gate_.someone_waits() && !loading_room_ && room_due_ <= context_.now)
        load_room();
}

void Bridge::send_node_lists()
{
    const std::set<std::string> &dirty = gate_.dirty();
    line_.tell_nodes(nodes_.slurm_nodes(), dirty);
    if (!std::ranges::includes(dirty, dirty_before_)) {
        // a drain set by the gate may be over
        Clock::time_point due = context_.now + resume_pause;
        nodes_due_ = nodes_changed_ ? std::min(nodes_due_, due) : due;
        nodes_changed_ = true;
    }
    if (dirty_before_ != dirty)
        dirty_before_ = dirty;
}

Clock::time_point Bridge::gate_deadline() const
{
    Clock::time_point next = gate_.next_vanished_end();
    return gate_.someone_waits() && !loading_room_ ? std::min(next, room_due_)
                                                   : next;
}

// Loads the nodes first, and then the jobs: see RoomAnswer.
void Bridge::load_room()
{
    loading_room_ = true;
    room_due_ = context_.now + room_interval;
    errands_.ask([jobs = gate_.waiting()](
                     Slurm &slurm) { return ask_room(slurm, jobs); },
                 [this](const Result<RoomAnswer> &answer) {
                     apply_room_answer(answer);
                 });
}

Result<RoomAnswer> Bridge::ask_room(Slurm &slurm,
                                    const std::vector<JobRef> &jobs)
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

void Bridge::apply_room_answer(const Result<RoomAnswer> &answer)
{
    loading_room_ = false;
    if (!answer) {
        context_.health.problem("slurmctld", answer.error().message);
        return;
    }
    context_.health.solved("slurmctld");
    NodeGate::Admitted admitted = gate_.admit(*answer);
    for (JobRef job : admitted.ordinary) {
        log_info("an ordinary job may start on a dirty node",
                 {{"JobId", job.id}});
        line_.send({.type = HookMessage::Type::start, .job = job});
    }
    for (const std::string &uid : admitted.gangs)
        agenda_.wake(uid);
}

// Returns whether each Pod may be bound now. If not, the gang is woken when
// that changes.
bool Bridge::may_bind(GangEntry &entry, const Bind &bind)
{
    const Gang &gang = entry.gang;
    auto going = pods_by_node(gang, bind);
    for (const auto &[node, pods] : going) {
        auto room = gate_.room_for(gang, amounts_on(gang, node, pods), node,
                                   nodes_.find(node), foreign_.on(node));
        if (room == NodeGate::Room::yes)
            continue;
        if (room == NodeGate::Room::ask_slurm) {
            gate_.wait(bind.job, gang.uid);
            room_due_ = std::min(room_due_, context_.now + room_interval);
        }
        blocked_[node].insert(gang.uid);
        wait_for_room(entry, bind.job, node);
        return false;
    }
    room_waits_.erase(gang.uid);
    for (const auto &[node, pods] : going)
        for (const PodPtr &pod : pods)
            gate_.record_binding(gang, pod->uid, node);
    return true;
}

// A slurmctld that crashed gave away what a living Pod uses. The new job of
// that Pod waits at the head of the queue until those that wait here leave.
// They leave all at once, together with any that come later: if they left one
// by one, backfill would put the next job into the room of each.
std::optional<Clock::time_point> Bridge::adoption_due(const std::string &node)
{
    std::optional<Clock::time_point> due;
    for (const std::string &uid : gangs_.living_on(node)) {
        const GangEntry *entry = gangs_.find(uid);
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
void Bridge::wait_for_room(GangEntry &entry, JobRef job,
                           const std::string &node)
{
    RoomWait &wait = room_waits_[entry.gang.uid];
    if (wait.job != job)
        wait = {job, context_.now, false};
    Clock::time_point due = wait.since + context_.conf->bind_timeout;
    if (context_.now - wait.since >= room_interval)
        report_on_pods(entry, no_room_message(job, node));
    bool runs = entry.gang.grouped && entry.gang.job &&
                entry.gang.job->state == JobState::running;
    auto adoption = adoption_due(node);
    if (runs) { // nothing is given up for one Pod that comes late
        agenda_.wake_at(entry, context_.now + room_interval);
    } else if (adoption && *adoption <= context_.now) {
        entry.gang.bind_overdue = true;
        agenda_.wake(entry.gang.uid);
    } else if (context_.now < due) {
        agenda_.wake_at(entry, std::min({due, adoption.value_or(due),
                                         context_.now + room_interval}));
    } else if (!gate_.is_dirty(node)) {
        entry.gang.bind_overdue = true;
        agenda_.wake(entry.gang.uid);
    } else if (!std::exchange(wait.draining, true)) {
        drain_for_room(entry.gang.uid, job, node);
    }
}

void Bridge::drain_for_room(const std::string &uid, JobRef job,
                            const std::string &node)
{
    errands_.ask(
        [slurm_node = nodes_.slurm_name_of(node)](Slurm &slurm) {
            return drain_unless_drained(slurm, slurm_node);
        },
        [this, uid, job](const Result<> &done) {
            drained_for_room(uid, job, done);
        });
}

Result<> Bridge::drain_unless_drained(Slurm &slurm, const std::string &node)
{
    auto nodes = slurm.load_nodes();
    if (!nodes)
        return std::unexpected(nodes.error());
    bool drained = std::ranges::any_of(*nodes, [&](const SlurmNode &known) {
        return known.name == node && known.drained;
    });
    return drained ? Result<>{} : slurm.drain(node, names::gate_drain_reason);
}

void Bridge::drained_for_room(const std::string &uid, JobRef job,
                              const Result<> &done)
{
    auto wait = room_waits_.find(uid);
    GangEntry *entry = gangs_.find(uid);
    if (wait == room_waits_.end() || wait->second.job != job || !entry)
        return;
    if (done) {
        entry->gang.bind_overdue = true;
        agenda_.wake(uid);
        return;
    }
    log_warning("failed, retrying", {{"action", "drain"},
                                     {"JobId", job.id},
                                     {"err", done.error().message}});
    wait->second.draining = false;
    agenda_.wake_at(*entry, context_.now + room_interval);
}

// Its object is gone: its containers may not be.
void Bridge::record_vanished(const Pod &last, const Gang *gang)
{
    std::uint32_t cpus =
        gang ? cpus_of(*gang, last) : whole_cpus_up(last.requests.cpu);
    if (gate_.record_gone(last, cpus, context_.now))
        log_warning("a Pod is gone that has not ended: its node counts as in "
                    "use for the rest of its grace period",
                    {{"Pod", last.key.str()}, {"Node", last.node_name}});
}

void Bridge::wake_blocked()
{
    std::set<std::string> freed = gangs_.pop_freed();
    freed.merge(gate_.drop_vanished(context_.now));
    for (const std::string &node : freed) {
        gate_.touch(node);
        if (gate_.someone_waits())
            room_due_ = context_.now;
        auto waiting = blocked_.extract(node);
        if (!waiting.empty())
            agenda_.wake(std::move(waiting.mapped()));
    }
}

} // namespace bridge
