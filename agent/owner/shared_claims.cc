// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/shared_claims.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

bool names_claim(const Pod &pod, const std::string &claim)
{
    return std::ranges::any_of(pod.resource_claims, [&](const PodClaim &one) {
        return one.from_template.empty() && one.claim == claim;
    });
}

// Whether the job of the gang has the devices itself, or is to get them.
bool counts_itself(const Gang &gang, const std::string &claim)
{
    return gang.job && !is_ended(gang.job->state) &&
           std::ranges::contains(gang.job->tag.claims, claim);
}

bool counts_for_others(const GangEntry &entry)
{
    const Gang &gang = entry.gang;
    return is_placed(gang) && !entry.ending_job &&
           !gang.job->tag.claims.empty();
}

} // namespace

CountingFacts SharedClaims::update(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.job->ref != entry.uncounted_job)
        entry.uncounted_reason.clear();
    look_for_ended_counters(entry);
    bool counts = counts_for_others(entry);
    CountingFacts facts{.counts_for = counts ? pod_to_wait_for(gang) : "",
                        .uncounted_reason = entry.uncounted_reason};
    bool kept = !facts.counts_for.empty();
    tell_followers(entry, counts && (any_bound(gang) || kept));
    if (!gang.job || gang.stale || gang.job->tag.claims.empty())
        return facts;
    if (counts)
        entry.counting_job = gang.job->ref;
    if (kept && !any_bound(gang) && !any_waits(gang))
        report_kept(entry, facts.counts_for);
    if (is_ended(gang.job->state) && !only_forgotten(gang))
        record_counter_end(gang, entry.counting_job == gang.job->ref);
    return facts;
}

// Others may follow the gang now, or may not any more.
void SharedClaims::tell_followers(GangEntry &entry, bool may)
{
    const Gang &gang = entry.gang;
    if (std::exchange(entry.may_be_followed, may) == may || !gang.job)
        return;
    for (const std::string &claim : gang.job->tag.claims)
        for (const std::string &uid : gangs_.users_of({gang.key.ns, claim}))
            if (uid != gang.uid)
                agenda_.wake(uid);
}

// Returns a Pod of another job that uses, or is about to use, devices that the
// job of this gang counts; "": there is none.
std::string SharedClaims::pod_to_wait_for(const Gang &gang)
{
    for (const std::string &name : gang.job->tag.claims) {
        ObjectKey claim{gang.key.ns, name};
        for (const std::string &uid : gangs_.users_of(claim)) {
            GangEntry *user = uid == gang.uid ? nullptr : gangs_.find(uid);
            if (!user || counts_itself(user->gang, name))
                continue;
            if (std::string pod = user_of_claim(*user, claim); !pod.empty())
                return pod;
        }
    }
    return {};
}

// Returns the name of a Pod of the gang that uses the claim, or may do so
// without another decision of this agent: its binding is under way, or the
// claim is reserved for it already.
std::string SharedClaims::user_of_claim(GangEntry &user, const ObjectKey &claim)
{
    const Gang &gang = user.gang;
    ResourceClaimPtr known = devices_.claims().find(claim);
    bool unlisted = devices_.on() && !devices_.claims().listed() &&
                    context_.ports.access.may(Feature::devices);
    bool binds = user.in_flight == Action(Bind{}).index();
    for (const PodPtr &pod : gang.pods) {
        if (pod->terminal() || !names_claim(*pod, claim.name))
            continue;
        if (pod->bound() || binds || unlisted ||
            gang.assumed_bound.contains(pod->uid) ||
            gang.maybe_bound.contains(pod->uid) ||
            (known && known->is_reserved_for(pod->uid)))
            return pod->key.name;
    }
    return {};
}

// A job may be replaced until its own Pods are on their nodes.
Counting SharedClaims::counting(const Gang &follower, const ObjectKey &claim)
{
    Counting most = Counting::nobody;
    for (const std::string &uid : gangs_.counters_of(claim)) {
        const GangEntry *entry = gangs_.find(uid);
        if (!entry || !counts_for_others(*entry))
            continue;
        const Gang &gang = entry->gang;
        if (uid == follower.uid || any_bound(gang) ||
            !gang.claims.counts_for.empty())
            return Counting::now;
        if (any_waits(gang))
            most = Counting::soon;
    }
    return most;
}

// Whether a job counts the claim, or is to count it once it has its node.
bool SharedClaims::will_be_counted(const ObjectKey &claim)
{
    return std::ranges::any_of(
        gangs_.counters_of(claim), [&](const std::string &uid) {
            const GangEntry *entry = gangs_.find(uid);
            return entry && counts_itself(entry->gang, claim.name);
        });
}

bool SharedClaims::may_follow(GangEntry &entry, const Bind &bind)
{
    auto catalog = devices_.catalog();
    bool may = std::ranges::all_of(bind.claims, [&](const ClaimPlan &plan) {
        ResourceClaimPtr claim = devices_.claims().find(plan.key);
        return !plan.allocated || !claim || claim->is_reserved_for(plan.pod) ||
               !counted_by_slurm(*claim, *catalog) ||
               counting(entry.gang, plan.key) == Counting::now;
    });
    if (!may)
        agenda_.wake_at(entry, context_.now + device_pause);
    return may;
}

// The job of the gang has ended: Pods of others that use devices that it
// counted must end. seen: this agent has seen it live.
void SharedClaims::record_counter_end(const Gang &gang, bool seen)
{
    for (const std::string &name : gang.job->tag.claims) {
        ObjectKey claim{gang.key.ns, name};
        if (will_be_counted(claim))
            continue;
        if (!seen)
            ended_counters_.insert_or_assign(claim, *gang.job);
        for (const std::string &uid : gangs_.users_of(claim)) {
            GangEntry *user = uid == gang.uid ? nullptr : gangs_.find(uid);
            if (user && seen)
                set_uncounted(*user, *gang.job, name);
            else if (user)
                agenda_.wake(uid);
        }
    }
}

// The Pods are ended once they run, or are given another job before.
void SharedClaims::set_uncounted(GangEntry &user, const Job &job,
                                 const std::string &claim)
{
    const Gang &gang = user.gang;
    if (!gang.job || is_ended(gang.job->state) ||
        !user.uncounted_reason.empty() ||
        user_of_claim(user, {gang.key.ns, claim}).empty())
        return;
    user.uncounted_reason = uncounted_message(job, claim);
    user.uncounted_job = gang.job->ref;
    log_warning("the job that counts a shared ResourceClaim has ended: Pods "
                "that use it end, too",
                {{"JobId", job.ref.id},
                 {"ResourceClaim", claim},
                 {"Gang", gang.key.str()}});
    voice_.warn(gang, "SlurmSharedClaimEnded", user.uncounted_reason);
    agenda_.wake(gang.uid);
}

void SharedClaims::take(const std::vector<Job> &jobs)
{
    ended_counters_.clear();
    for (const Job &job : jobs) {
        std::size_t slash = job.tag.gang.find('/');
        bool sure = is_ended(job.state) && job.state != JobState::node_fail;
        if (!sure || slash == std::string::npos || gangs_.find(job.tag.uid))
            continue;
        for (const std::string &claim : job.tag.claims)
            ended_counters_[{job.tag.gang.substr(0, slash), claim}] = job;
    }
}

void SharedClaims::claims_listed()
{
    for (const auto &[claim, job] : ended_counters_)
        for (const std::string &uid : gangs_.users_of(claim))
            agenda_.wake(uid);
}

// Such a job may also have ended before the claim was allocated anew: by
// somebody else, or for Pods whose own job has devices.
void SharedClaims::look_for_ended_counters(GangEntry &user)
{
    const Gang &gang = user.gang;
    if (ended_counters_.empty() || !gang.job ||
        !is_allocated(gang.job->state) || gang.job->devices ||
        !gang.job->gres_per_task.empty())
        return;
    for (const PodPtr &pod : gang.pods)
        for (const PodClaim &one : pod->resource_claims) {
            ObjectKey key{gang.key.ns, one.claim};
            auto ended = ended_counters_.find(key);
            ResourceClaimPtr claim = devices_.claims().find(key);
            if (ended != ended_counters_.end() && pod->living() && claim &&
                claim->allocated && claim->allocated_by_us &&
                !will_be_counted(key))
                set_uncounted(user, ended->second, key.name);
        }
}

// Nothing tells when the last of the other Pods is over.
void SharedClaims::report_kept(GangEntry &entry, const std::string &pod)
{
    const Gang &gang = entry.gang;
    agenda_.wake_at(entry, context_.now + device_pause);
    if (std::exchange(entry.kept_for_told, pod) == pod)
        return;
    errands_.run(
        [job = gang.job->ref, words = kept_message(pod)](Slurm &slurm) {
            (void)slurm.set_comment(job, words); // for people only
        });
}

} // namespace bridge
