// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/early_hooks.h"

#include <algorithm>
#include <utility>

namespace bridge {

void EarlyHooks::put(HookMessage hook)
{
    JobRef job = hook.job;
    hooks_[job] = {std::move(hook), context_.now};
}

std::optional<HookMessage> EarlyHooks::take(JobRef job)
{
    auto early = hooks_.extract(job);
    if (early.empty())
        return std::nullopt;
    return std::move(early.mapped().message);
}

// Returns whether the Pods that live by that job get another one, and the
// plugin has been told that their nodes are dirty.
bool EarlyHooks::has_successor(JobRef job) const
{
    bool any = false, all = true;
    for (const auto &[node, gangs] : gangs_.living()) {
        for (const auto &[uid, pods] : gangs) {
            const Gang &gang = gangs_.all().at(uid).gang;
            if (std::ranges::none_of(pods, [&](const PodPtr &pod) {
                    return binder_of(*pod) == job;
                }))
                continue;
            any = true;
            all &= gang.job && adopts(gang) &&
                   line_.told_dirty(nodes_.slurm_name_of(node));
        }
    }
    return any && all;
}

// An epilog is released as soon as none of the job's containers can be alive,
// or once the list of dirty nodes covers them and another job is to adopt the
// Pods: after a restart, slurmctld gives a node with a held epilog to no job at
// all.
void EarlyHooks::settle()
{
    for (auto early = hooks_.begin(); early != hooks_.end();) {
        const auto &[job, hook] = *early;
        bool ended = hook.message.type == HookMessage::Type::ended;
        if (ended && (!gangs_.living_of(job) || has_successor(job))) {
            line_.send({.type = HookMessage::Type::clean, .job = job});
            early = hooks_.erase(early);
            continue;
        }
        if (!ended && context_.now - hook.since >= answer_time &&
            lists_.asked() < hook.since + answer_time)
            lists_.list_soon(); // once: after that it has no gang
        early++;
    }
}

} // namespace bridge
