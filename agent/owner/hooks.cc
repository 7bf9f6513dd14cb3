// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld's plugin reports, and what it still has to be told.
#include "agent/owner/bridge.h"

namespace bridge {

void Bridge::on(HookReceived &hook)
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
        context_.health.count("hook_resync");
        lists_.list_soon();
        break;
    default:
        break;
    }
}

void Bridge::on_hello(const HookMessage &hello, PluginConnection from)
{
    line_.hello(hello, from);
    // slurmctld may have restarted, maybe from an older state, and has
    // forgotten jobs. What is known of them is old until they are listed again.
    room_.forget_ordinary();
    lists_.list_soon();
    sync_.change_soon();
    shadows_.doubt();
    grace_.doubt(); // slurm.conf may have changed
}

void Bridge::on(HookLost &)
{
    line_.lost();
    // slurmctld may return from an older state, without the features.
    pins_.lose();
    placement_.doubt();
    room_.forget_ordinary();
    gang_jobs_.forget_hooks();
}

// An ordinary job concerns the agent only because its node is dirty.
void Bridge::on_ordinary(const HookMessage &hook)
{
    if (hook.dirty.empty())
        return;
    if (!shadows_.release(hook.job))
        room_.queue_ordinary(hook.job);
}

void Bridge::on_allocated(const HookMessage &hook)
{
    context_.health.count("allocated");
    if (!hook.ours)
        return on_ordinary(hook);
    // No gang has it: its Pods are not made yet.
    if (!gang_jobs_.allocated(hook) && hook.batch)
        batch_jobs_.want(hook.job);
}

void Bridge::on_ended(const HookMessage &hook)
{
    context_.health.count("ended");
    batch_jobs_.drop(hook.job);
    gang_jobs_.ended(hook, synced());
}

} // namespace bridge
