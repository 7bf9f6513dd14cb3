// SPDX-License-Identifier: GPL-2.0-or-later
// What the owner thread tells about one gang, for slurmk8s explain. It searches
// all gangs: such requests are rare, and an index would cost time for every
// Pod.
#include "agent/owner/status.h"

#include "agent/gang/facts.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

// pod is NAME or NAMESPACE/NAME, of a Pod or of its gang.
bool named(const GangEntry &entry, const std::string &pod)
{
    auto is_it = [&](const ObjectKey &key) {
        return pod.contains('/') ? key.str() == pod : key.name == pod;
    };
    return is_it(entry.gang.key) ||
           std::ranges::any_of(entry.gang.pods, [&](const PodPtr &known) {
               return is_it(known->key);
           });
}

// A Pod that was created again with the same name hides the one that is being
// deleted.
bool going(const GangEntry &entry)
{
    return entry.gang.pods.empty() || entry.gang.pods.front()->deleting ||
           entry.gang.pods.front()->terminal();
}

std::unexpected<Error> unknown_pod(const std::string &pod, const Conf &conf)
{
    std::string schedulers;
    for (const std::string &name : conf.scheduler_names)
        schedulers += (schedulers.empty() ? "" : " or ") + name;
    return fail(Code::not_found,
                std::format("the agent knows no Pod {}: there is none, it has "
                            "ended and its job too, or its schedulerName is "
                            "not {}",
                            pod, schedulers));
}

// Returns whose containers keep the gang from being bound: see may_bind().
std::vector<Blocker> blockers_of(const OwnerParts &parts, const Gang &gang,
                                 const Bind &bind)
{
    std::vector<Blocker> blockers;
    for (const auto &[node, to_bind] : pods_by_node(gang, bind)) {
        if (parts.room.gate().room_for(
                gang, amounts_of(to_bind), node, parts.nodes.find(node),
                parts.outside.foreign().on(node)) == NodeGate::Room::yes)
            continue;
        for (const auto &[uid, pods] : parts.gangs.living_on(node)) {
            const Gang &other = parts.gangs.all().at(uid).gang;
            bool in_the_way =
                uid != gang.uid && (!other.job || is_ended(other.job->state));
            if (in_the_way)
                blockers.push_back(
                    {node, other.key.str(), other.job ? other.job->ref.id : 0});
        }
        for (const VanishedPod &pod : parts.room.gate().vanished_on(node))
            blockers.push_back({node, pod.key.str(), pod.job});
    }
    return blockers;
}

Story make_story(const OwnerParts &parts, const GangEntry &entry)
{
    Decision next = decide(entry.gang, parts.nodes.slurm_nodes());
    Story story;
    story.gang = entry.gang;
    story.serving = parts.synced();
    if (entry.in_flight)
        story.doing = action_name(*entry.in_flight);
    story.next = decision_name(next);
    if (const auto *wait = as_kind<Wait>(next))
        story.reason = wait->reason;
    else if (const auto *refuse = as_kind<Refuse>(next))
        story.reason = refuse->reason;
    const auto *action = std::get_if<Action>(&next);
    if (action && parts.attempts.is_held(entry, *action))
        story.held_for = std::chrono::ceil<std::chrono::seconds>(
            entry.postponed_until - parts.context.now);
    story.failures = entry.failures;
    story.last_failure = entry.last_failure;
    story.said = entry.told;
    story.in_line = parts.places.is_in_line(entry.gang.uid);
    if (auto grace = time_to_end(entry.gang); grace && entry.ending_since)
        story.ending = {
            std::chrono::round<std::chrono::seconds>(
                parts.context.wall - (parts.context.now - *entry.ending_since)),
            *grace};
    if (const auto *bind = as_kind<Bind>(next))
        story.blockers = blockers_of(parts, entry.gang, *bind);
    return story;
}

} // namespace

Result<Story> story_of(const OwnerParts &parts, const StoryKey &key)
{
    if (key.job != 0) {
        for (const auto &[uid, entry] : parts.gangs.all())
            if (entry.gang.job &&
                std::ranges::contains(refs_of(*entry.gang.job), key.job,
                                      &JobRef::id))
                return make_story(parts, entry);
        return fail(Code::not_found, std::format("the agent has no gang with "
                                                 "job {}",
                                                 key.job));
    }
    const GangEntry *found = nullptr;
    for (const auto &[uid, entry] : parts.gangs.all()) {
        if (!named(entry, key.pod))
            continue;
        if (found && found->gang.key != entry.gang.key)
            return fail(Code::conflict,
                        std::format("both {} and {} are meant by {}: name the "
                                    "namespace",
                                    found->gang.key.str(), entry.gang.key.str(),
                                    key.pod));
        if (!found || going(*found))
            found = &entry;
    }
    if (!found)
        return unknown_pod(key.pod, *parts.context.conf);
    return make_story(parts, *found);
}

} // namespace bridge
