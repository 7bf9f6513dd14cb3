// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/groups.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::chrono::seconds write_interval{1}; // of one PodGroup
constexpr std::chrono::seconds stale_repeat{1};
constexpr std::chrono::seconds failed_repeat{30};

} // namespace

void Groups::take(GroupsListed &groups)
{
    static const std::vector<GroupSpec> none;
    bool was_on = table_.is_on(groups.api);
    if (groups.api == GroupApi::plugins)
        reports_.replace(groups.specs ? *groups.specs : none, context_.now);
    if (groups.specs)
        table_.replace(groups.api, std::move(*groups.specs));
    else
        table_.turn_off(groups.api);
    if (table_.is_on(groups.api) != was_on)
        log_info(
            was_on ? "an API of Pod groups is gone"
                   : "an API of Pod groups is available",
            {{"api",
              (groups.path ? *groups.path : path_of(groups.api)).words()}});
    wake(groups.api);
}

void Groups::take(Changed<GroupSpec> &group)
{
    GroupRef ref{group.object.api, group.object.key.name};
    std::string uid = gang_uid_of(group.object.key.ns, ref);
    GroupApi api = ref.api;
    if (group.deleted)
        reports_.erase(group.object);
    else
        reports_.put(group.object, context_.now);
    bool news = group.deleted ? table_.erase(group.object)
                              : table_.put(std::move(group.object));
    if (news && api == GroupApi::jobset)
        wake(api); // of each attempt
    else if (news)
        regroup(uid);
}

void Groups::wake(GroupApi api)
{
    std::vector<std::string> uids;
    for (const auto &[uid, entry] : gangs_.all())
        if (const Gang &gang = entry.gang; gang.grouped && !gang.pods.empty())
            if (const GangKey *key = gang.pods.front()->gang.get();
                key && key->group.api == api)
                uids.push_back(uid);
    for (const std::string &uid : uids)
        regroup(uid);
}

// A group that turns out not to be a gang releases its Pods.
void Groups::regroup(const std::string &uid)
{
    GangEntry *entry = gangs_.find(uid);
    if (!entry || !entry->gang.grouped)
        return;
    agenda_.wake(uid);
    const GroupSpec *group = group_of(entry->gang);
    if (!group || group->minimum != 0)
        return;
    std::vector<std::string> alone;
    for (const PodPtr &pod : entry->gang.pods)
        if (waits(entry->gang, *pod))
            alone.push_back(pod->uid);
    split(alone);
}

const GroupSpec *Groups::group_of(const Gang &gang) const
{
    const GangKey *key =
        gang.grouped && !gang.pods.empty() ? lead_of(gang).gang.get() : nullptr;
    const GroupSpec *group =
        key ? table_.find(gang.key.ns, key->group) : nullptr;
    bool other =
        group && !key->group_uid.empty() && group->uid != key->group_uid;
    return other ? nullptr : group;
}

// A Pod that is known keeps its gang, whatever has become of the API meanwhile.
GangKeyPtr Groups::gang_of(const Pod &pod) const
{
    if (auto known = gangs_.group_of(pod))
        for (GangKeyPtr key = pod.gang; key; key = key->otherwise)
            if (key->uid == *known)
                return key;
    return table_.choose_gang(pod);
}

void Groups::split(const std::vector<std::string> &pods)
{
    for (const std::string &pod : pods)
        if (std::string alone = gangs_.split(pod); !alone.empty())
            agenda_.wake(alone);
}

void Groups::update_terms(Gang &gang) const
{
    const GangKey *key = gang.pods.empty() ? nullptr : lead_of(gang).gang.get();
    if (key && key->group.api != GroupApi::none) {
        update_group_terms(gang, *key);
        return;
    }
    if (!key && !gang.group_uid.empty())
        return; // its Pods do not name it any more
    GangTerms terms = terms_of(gang.pods, context_.conf->max_gang_size);
    gang.size = terms.size;
    gang.minimum = terms.minimum;
    gang.unfit_reason = std::move(terms.unfit_reason);
}

// A gang that has its nodes does not need the object any more.
void Groups::update_group_terms(Gang &gang, const GangKey &key) const
{
    const GroupSpec *group = group_of(gang);
    gang.elastic = group ? group->elastic : key.group.api != GroupApi::jobset;
    gang.no_group_reason = group ? "" : no_group_message(key.group);
    gang.group_uid = group ? group->uid : "";
    if (!group) {
        gang.size = gang.minimum = gang.job ? gang.job->tasks : 1;
        return;
    }
    gang.size = group->size;
    gang.minimum = std::max(1u, group->minimum);
    gang.unfit_reason = group->unfit_reason;
    std::size_t largest =
        gang.elastic ? gang.size : std::max(gang.size, count_waiting(gang));
    if (gang.unfit_reason.empty() && largest > context_.conf->max_gang_size)
        gang.unfit_reason =
            too_large_gang_message(largest, context_.conf->max_gang_size);
}

std::chrono::seconds Groups::short_time(const Gang &gang) const
{
    const GroupSpec *group = group_of(gang);
    return group && group->timeout.count() > 0
               ? std::min(group->timeout, context_.conf->bind_timeout)
               : context_.conf->bind_timeout;
}

// Once its Pods had their nodes, it never says again that they wait.
void Groups::report(const std::string &uid)
{
    GangEntry *entry = gangs_.find(uid);
    const GroupSpec *group = entry ? group_of(entry->gang) : nullptr;
    if (!group || group->api != GroupApi::workload ||
        group->scheduled.status == "True" ||
        entry->group_told == group->uid + " True")
        return;
    const Gang &gang = entry->gang;
    if (gang.job && gang.job->state == JobState::running &&
        !of_former_group(gang))
        send(*entry, *group, {"True", "Scheduled", ""});
    else if (any_waits(gang) && !entry->told.empty())
        send(*entry, *group, {"False", "Unschedulable", entry->told});
}

// Sends the version that is known, so that of two writes that overtake each
// other only the later one, or none, takes effect.
void Groups::send(GangEntry &entry, const GroupSpec &group,
                  ScheduledCondition condition)
{
    std::string words =
        group.uid + " " +
        (condition.status == "True" ? condition.status : condition.message);
    const std::string &uid = entry.gang.uid;
    if (entry.group_told == words || must_wait(uid, condition.status))
        return;
    entry.group_told = words;
    if (group.scheduled == condition)
        return; // this agent said so before a restart
    sent_[uid] = {condition.status, context_.now + write_interval};
    resting_.emplace_back(context_.now + write_interval, uid);
    bool flips = group.scheduled.status != condition.status;
    GroupPatch patch{group.api,
                     group.key,
                     group.uid,
                     group.resource_version,
                     std::move(condition),
                     flips,
                     {},
                     group.path};
    errands_.report_in(
        patch.key.ns, [patch](Kube &kube) { return kube.patch_group(patch); },
        [this, uid](const Result<> &said) { sent(uid, said); });
}

// That the gang is scheduled waits for no rest.
bool Groups::must_wait(const std::string &uid, const std::string &status)
{
    auto last = sent_.find(uid);
    if (last == sent_.end() ||
        (!last->second.in_flight && last->second.status != status))
        return false;
    last->second.more = true;
    return true;
}

void Groups::sent(const std::string &uid, const Result<> &said)
{
    Sent &last = sent_.at(uid);
    last.in_flight = false;
    if (last.more)
        agenda_.wake(uid);
    end_rest(uid);
    if (!said)
        untold(uid, said.error());
}

void Groups::end_rest(const std::string &uid)
{
    auto last = sent_.find(uid);
    if (last == sent_.end() || last->second.in_flight ||
        last->second.rests_until > context_.now)
        return;
    if (last->second.more)
        agenda_.wake(uid);
    sent_.erase(last);
}

void Groups::untold(const std::string &uid, const Error &error)
{
    log_debug("cannot set the condition of a PodGroup, retrying",
              {{"err", error.message}});
    GangEntry *known = gangs_.find(uid);
    if (!known)
        return;
    known->group_told.clear();
    agenda_.wake_at(*known, context_.now + (error.code == Code::conflict
                                                ? stale_repeat
                                                : failed_repeat));
}

void Groups::report_due()
{
    while (!resting_.empty() && resting_.front().first <= context_.now) {
        end_rest(resting_.front().second);
        resting_.pop_front();
    }
    if (!context_.ports.access.may(Feature::pod_group_status))
        return;
    for (const GroupPatch &patch : reports_.pop_due(table_, context_.now))
        errands_.report_in(
            patch.key.ns,
            [patch](Kube &kube) { return kube.patch_group(patch); },
            [this, patch](const Result<> &said) {
                if (!said)
                    log_debug("cannot write the status of a PodGroup",
                              {{"err", said.error().message}});
                reports_.done(patch, said, context_.now);
            });
}

Clock::time_point Groups::due() const
{
    Clock::time_point due = context_.ports.access.may(Feature::pod_group_status)
                                ? reports_.next_due()
                                : Clock::time_point::max();
    return resting_.empty() ? due : std::min(due, resting_.front().first);
}

} // namespace bridge
