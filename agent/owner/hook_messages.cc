// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld's plugin reports, and what it still has to be told.
#include "agent/owner/owner.h"

#include <utility>

namespace bridge {

void Owner::on(HookReceived &hook)
{
    const HookMessage &message = hook.message;
    switch (message.type) {
    case HookMessage::Type::hello:
        on_hello(message, hook.from);
        break;
    case HookMessage::Type::allocated:
        on_allocated(message);
        break;
    case HookMessage::Type::ended:
        on_ended(message);
        break;
    case HookMessage::Type::resync:
        to_.context.health.count("hook_resync");
        to_.lists.list_soon();
        break;
    default:
        break;
    }
}

void Owner::on_hello(const HookMessage &hello, PluginConnection from)
{
    to_.line.hello(hello, from);
    if (!to_.context.conf->schedule_pods) // an earlier agent may have had nodes
        to_.line.tell_nodes({}, {});
    // slurmctld may have restarted, maybe from an older state, and has
    // forgotten jobs. What is known of them is old until they are listed again.
    to_.room.forget_ordinary();
    to_.lists.list_soon();
    to_.sync.sync_now();
    to_.shadows.doubt();
    to_.grace.doubt(); // slurm.conf may have changed
}

void Owner::on(HookLost &)
{
    to_.line.lost();
    // slurmctld may return from an older state, without the features.
    to_.pins.lose();
    to_.placement.doubt();
    to_.room.forget_ordinary();
    to_.gang_jobs.forget_hooks();
}

void Owner::on(WorkersUnprotected &workers)
{
    to_.line.tell_unprotected(std::move(workers.nodes));
}

// An ordinary job concerns the agent only because its node is dirty, or that of
// a slurmd Pod which is not protected yet.
void Owner::on_ordinary(const HookMessage &hook)
{
    if (hook.unprotected && to_.context.ports.look_at_workers)
        to_.context.ports.look_at_workers();
    if (hook.dirty.empty())
        return;
    if (!to_.shadows.release(hook.job))
        to_.room.queue_ordinary(hook.job);
}

void Owner::on_allocated(const HookMessage &hook)
{
    to_.context.health.count("allocated");
    if (!hook.ours)
        return on_ordinary(hook);
    if (hook.batch)
        to_.node_demands.allocated(hook.job);
    // No gang has it: its Pods are not made yet.
    if (!to_.gang_jobs.allocated(hook) && hook.batch)
        to_.batch_jobs.want(hook.job);
}

void Owner::on_ended(const HookMessage &hook)
{
    to_.context.health.count("ended");
    to_.batch_jobs.drop(hook.job);
    to_.node_demands.ended(hook.job);
    to_.gang_jobs.ended(hook, to_.synced());
}

} // namespace bridge
