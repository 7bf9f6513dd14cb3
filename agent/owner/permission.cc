// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/permission.h"

#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

// The Namespace says as whom the Pods run, and is watched separately. Whether
// the agent may read the owners of Pods is known only a moment after the start.
// So is which nodes count which devices: before, no node with a slurmd would
// seem to have those of a claim.
bool Permission::may_submit(GangEntry &entry)
{
    if (!to_.namespaces.contains(entry.gang.key.ns))
        return false;
    if (entry.gang.devices && entry.gang.devices->unknown) {
        to_.agenda.wake_at(entry, to_.context.now + device_pause);
        return false;
    }
    if (!to_.context.ports.access.answered()) {
        to_.agenda.wake_at(entry, to_.context.now + std::chrono::seconds(1));
        return false;
    }
    std::string reason;
    if (to_.places.may_ask(entry, reason))
        return true;
    to_.voice.say(entry, reason);
    return false;
}

// Slurm gives away what the job of an adoption does not request, for as long as
// the Pod lives. So its devices should be known, but this does not wait for
// them for ever.
bool Permission::may_adopt(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!to_.namespaces.contains(gang.key.ns))
        return false;
    if (!gang.devices || !gang.devices->unknown)
        return true;
    if (!entry.adoption_held_since)
        entry.adoption_held_since = to_.context.now;
    if (to_.context.now - *entry.adoption_held_since >= devices_patience)
        return true;
    to_.agenda.wake_at(entry, to_.context.now + device_pause);
    return false;
}

// Its Pod may be about to be listed.
bool Permission::may_cancel_orphan(GangEntry &entry)
{
    auto due = *entry.orphan_since + to_.context.conf->orphan_grace;
    if (to_.context.now < due)
        to_.agenda.wake_at(entry, due);
    return to_.context.now >= due;
}

bool Permission::may_act(GangEntry &entry, const Action &action)
{
    const Gang &gang = entry.gang;
    if (to_.attempts.is_held(entry, action)) {
        to_.agenda.wake_at(entry, entry.postponed_until);
        return false;
    }
    if (std::holds_alternative<Submit>(action)) {
        if (to_.context.now < entry.submit_after) {
            to_.agenda.wake_at(entry, entry.submit_after);
            return false;
        }
        return to_.placement.is_known(gang) && may_submit(entry);
    }
    if (const auto *adopt = std::get_if<Adopt>(&action)) {
        if (!to_.pins.has(adopt->node)) {
            to_.sync.sync_when_due(); // the pins are derived from the gangs
            return false;
        }
        return may_adopt(entry);
    }
    if (std::holds_alternative<Cancel>(action) && entry.orphan_since)
        return may_cancel_orphan(entry);
    auto needed = [this](JobRef job) { return is_needed(job); };
    if (ends_job(action) && gang.grouped &&
        std::ranges::any_of(refs_of(*gang.job), needed)) {
        to_.agenda.wake_at(entry, to_.context.now + std::chrono::seconds(1));
        return false;
    }
    if (const auto *bind = std::get_if<Bind>(&action))
        return to_.shared_claims.may_follow(entry, *bind) &&
               to_.room.may_bind(entry, *bind);
    return true;
}

bool Permission::is_needed(JobRef lost) const
{
    auto waits_for_job = [&](const auto &known) {
        const Gang &gang = known.second.gang;
        return !gang.grouped && !gang.job &&
               std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
                   return pod->living() && binder_of(*pod) == lost;
               });
    };
    return to_.gangs.living_of(lost) &&
           std::ranges::any_of(to_.gangs.all(), waits_for_job);
}

} // namespace bridge
