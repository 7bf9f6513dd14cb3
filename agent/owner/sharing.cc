// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims that Pods of several jobs use. The job that got the devices
// counts them, and its tag names the claims. It lives on when its own Pods are
// over, until no other Pod uses the devices any more; if Slurm ends it before,
// those Pods end with it. Otherwise Slurm would believe the devices to be free
// while they are in use.
//
// A claim is known by its name here, because users may take its finalizer off
// and delete it while Pods use its devices.
#include "agent/owner/bridge.h"

#include "agent/decide/decide_parts.h"
#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_sharing.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>

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
    return gang.job && is_allocated(gang.job->state) && !entry.ending_job &&
           !gang.job->tag.claims.empty();
}

} // namespace

// Runs before decide(): the facts about the gang's claims and others' Pods.
void Bridge::update_sharing(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.counts_for.clear();
    if (!gang.job || gang.job->ref != entry.uncounted_job)
        gang.uncounted_reason.clear();
    const std::vector<std::string> claims =
        gang.job ? gang.job->tag.claims : std::vector<std::string>{};
    bool follow = counts_for_others(entry) && any_bound(gang);
    if (std::exchange(entry.may_be_followed, follow) != follow)
        for (const std::string &claim : claims)
            for (const std::string &uid : gangs_.users_of({gang.key.ns, claim}))
                if (uid != gang.uid)
                    wake(uid);
    if (claims.empty() || gang.stale)
        return;
    if (counts_for_others(entry)) {
        entry.counting_job = gang.job->ref;
        gang.counts_for = pod_to_wait_for(gang);
        if (!gang.counts_for.empty() && !any_bound(gang) && !any_waits(gang))
            report_kept(entry);
    } else if (is_ended(gang.job->state) && !only_forgotten(gang)) {
        record_uncounted(*gang.job, gang.key.ns,
                         entry.counting_job == gang.job->ref);
    }
}

// Returns a Pod of another job that uses, or is about to use, devices that the
// job of this gang counts; "": there is none.
std::string Bridge::pod_to_wait_for(const Gang &gang)
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
std::string Bridge::user_of_claim(GangEntry &user, const ObjectKey &claim)
{
    const Gang &gang = user.gang;
    ResourceClaimPtr known = claims_.find(claim);
    bool unlisted = devices_.on() && !claims_.listed() &&
                    ports_.access.may(Feature::devices);
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

// Whether a living job counts the claim for a Pod of this gang. Another gang's
// job does so once its Pods are on their nodes: until then it may be replaced.
bool Bridge::is_counted(const Gang &follower, const ObjectKey &claim)
{
    return std::ranges::any_of(
        gangs_.counters_of(claim), [&](const std::string &uid) {
            const GangEntry *entry = gangs_.find(uid);
            return entry && counts_for_others(*entry) &&
                   (uid == follower.uid || any_bound(entry->gang));
        });
}

// Whether a job counts the claim, or is to count it once it has its node.
bool Bridge::will_be_counted(const ObjectKey &claim)
{
    return std::ranges::any_of(
        gangs_.counters_of(claim), [&](const std::string &uid) {
            const GangEntry *entry = gangs_.find(uid);
            return entry && counts_itself(entry->gang, claim.name);
        });
}

// The plan may be older than what is known now of the job that counts a claim.
bool Bridge::may_follow(GangEntry &entry, const Bind &bind)
{
    auto catalog = devices_.catalog();
    bool may = std::ranges::all_of(bind.claims, [&](const ClaimPlan &plan) {
        ResourceClaimPtr claim = claims_.find(plan.key);
        return !plan.allocated || !claim || claim->is_reserved_for(plan.pod) ||
               !counted_by_slurm(*claim, *catalog) ||
               is_counted(entry.gang, plan.key);
    });
    if (!may)
        wake_at(entry, now_ + device_pause);
    return may;
}

// The job has ended: Pods of others that use devices that it counted must end.
// seen: this agent has seen it live. Otherwise it may have ended before the
// claim was allocated anew, by somebody else.
void Bridge::record_uncounted(const Job &job, const std::string &ns, bool seen)
{
    for (const std::string &name : job.tag.claims) {
        ObjectKey claim{ns, name};
        ResourceClaimPtr known = claims_.find(claim);
        bool ours = known && known->allocated && known->allocated_by_us;
        if (will_be_counted(claim) || (!seen && !ours))
            continue;
        for (const std::string &uid : gangs_.users_of(claim))
            if (GangEntry *user = gangs_.find(uid);
                user && job.tag.uid != uid)
                set_uncounted(*user, job, name);
    }
}

void Bridge::set_uncounted(GangEntry &user, const Job &job,
                           const std::string &claim)
{
    Gang &gang = user.gang;
    bool uses = std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->living() && names_claim(*pod, claim);
    });
    if (!uses || !gang.job || is_ended(gang.job->state) ||
        !gang.uncounted_reason.empty())
        return;
    gang.uncounted_reason = uncounted_message(job, claim);
    user.uncounted_job = gang.job->ref;
    log_warning("the job that counts a shared ResourceClaim has ended: Pods "
                "that use it end, too",
                {{"JobId", job.ref.id},
                 {"ResourceClaim", claim},
                 {"Gang", gang.key.str()}});
    report_event(gang, "SlurmSharedClaimEnded", gang.uncounted_reason);
    wake(gang.uid);
}

// Jobs that had ended before this agent knew their gangs, as after a restart.
void Bridge::record_ended_counters(const std::vector<Job> &ended)
{
    for (const Job &job : ended) {
        bool forgotten = job.state == JobState::node_fail;
        std::size_t slash = job.tag.gang.find('/');
        if (!forgotten && !gangs_.find(job.tag.uid) &&
            slash != std::string::npos)
            record_uncounted(job, job.tag.gang.substr(0, slash), false);
    }
}

// Nothing tells when the last of the other Pods is over.
void Bridge::report_kept(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    wake_at(entry, now_ + device_pause);
    if (std::exchange(entry.kept_for_told, gang.counts_for) == gang.counts_for)
        return;
    ports_.workers.push([&slurm = ports_.slurm, job = gang.job->ref,
                         words = kept_message(gang.counts_for)](Kube &) {
        (void)slurm.set_comment(job, words); // for people only
    });
}

} // namespace bridge
