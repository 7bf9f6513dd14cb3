// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the action that was decided for a gang may be carried out now, and
// the steps that need no worker.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/owner/pauses.h"
#include "common/base/overloaded.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

// The Namespace says as whom the Pods run, and is watched separately. Whether
// the agent may read the owners of Pods is known only a moment after the start.
// So is which nodes count which devices: before, no node with a slurmd would
// seem to have those of a claim.
bool Bridge::may_submit(GangEntry &entry)
{
    if (!namespaces_.contains(entry.gang.key.ns))
        return false;
    if (entry.gang.devices && entry.gang.devices->unknown) {
        agenda_.wake_at(entry, context_.now + device_pause);
        return false;
    }
    if (!context_.ports.access.answered()) {
        agenda_.wake_at(entry, context_.now + std::chrono::seconds(1));
        return false;
    }
    std::string reason;
    if (places_.may_ask(entry, reason))
        return true;
    voice_.say(entry, reason);
    return false;
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
        if (!pins_.has(adopt->node)) {
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
    auto needed = [this](JobRef job) { return is_needed(job); };
    if (ends_job(action) && gang.grouped &&
        std::ranges::any_of(refs_of(*gang.job), needed)) {
        agenda_.wake_at(entry, context_.now + std::chrono::seconds(1));
        return false;
    }
    if (const auto *bind = std::get_if<Bind>(&action))
        return shared_claims_.may_follow(entry, *bind) &&
               room_.may_bind(entry, *bind);
    return true;
}

void Bridge::take(GangEntry &entry, const OwnerStep &step)
{
    Gang &gang = entry.gang;
    Overloaded cases{
        [&](const Wait &wait) {
            if (!wait.reason.empty() && !is_growing(entry) &&
                !device_troubles_.may_be_short(entry))
                voice_.say(entry, wait.reason);
        },
        [&](const Refuse &refuse) {
            voice_.say(entry, submit_refused_message(refuse.reason));
        },
        [&](const Start &) {
            gang_jobs_.start(gang);
            // More Pods than the job has tasks may wait, or one may wait for
            // its kubelet.
            if (gang.grouped || gang.batch)
                agenda_.wake(gang.uid);
        },
        [&](const Clean &) {
            gang_jobs_.clean(gang);
            agenda_.wake(gang.uid);
        },
        [&](const Find &) {
            // one list for all
            lists_.list_by(context_.now + answer_time);
            agenda_.wake_at(entry, context_.now + answer_time);
        },
        [&](const Forget &) {
            batch_pods_.clean_up(gang);
            gangs_.erase(std::string(gang.uid));
        },
        [&](const Split &parts) {
            if (parts.late.empty())
                split(gang.uid);
            else
                groups_.split(parts.late);
        },
    };
    std::visit(cases, step);
}

} // namespace bridge
