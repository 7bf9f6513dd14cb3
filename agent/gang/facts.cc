// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/facts.h"

#include "agent/objects/gang_key.h"

#include <algorithm>
#include <string_view>

namespace bridge {

bool is_placed(const Gang &gang)
{
    return gang.job && is_allocated(gang.job->state);
}

bool waits(const Gang &gang, const Pod &pod)
{
    return !pod.bound() && !pod.terminal() && !pod.deleting &&
           !gang.assumed_bound.contains(pod.uid);
}

bool wants_node(const Gang &gang)
{
    bool has_node = !gang.assumed_bound.empty() || is_placed(gang);
    return !has_node && std::ranges::any_of(gang.pods, [](const PodPtr &pod) {
        return !pod->bound() && !pod->terminal();
    });
}

bool any_waits(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [&](const PodPtr &pod) { return waits(gang, *pod); });
}

bool any_bound(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return (pod->bound() || gang.assumed_bound.contains(pod->uid)) &&
               !pod->terminal();
    });
}

bool any_lives_by_job(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [&](const PodPtr &pod) { return lives_by_job(gang, *pod); });
}

bool all_deleting(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return pod->terminal() || pod->deleting;
    });
}

bool all_told_to_end(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return pod->terminal() || told_to_end(*pod);
    });
}

namespace {

std::chrono::seconds at_most(std::chrono::seconds longest, const Pod &pod)
{
    return std::max(std::min(pod.grace_period, longest),
                    std::chrono::seconds(1));
}

} // namespace

std::chrono::seconds grace_after_job(const Gang &gang, const Pod &pod)
{
    return at_most(gang.grace.longest, pod);
}

std::optional<std::chrono::seconds> time_to_end(const Gang &gang,
                                                std::chrono::seconds most)
{
    std::optional<std::chrono::seconds> longest;
    for (const PodPtr &pod : gang.pods)
        if (lives_by_job(gang, *pod) && told_to_end(*pod))
            longest = std::max(longest.value_or(std::chrono::seconds(0)),
                               at_most(most, *pod));
    return longest;
}

std::optional<std::chrono::seconds> time_to_end(const Gang &gang)
{
    return time_to_end(gang, gang.grace.longest);
}

bool ends_in_time(const Gang &gang, const Pod &pod)
{
    if (pod.deleting) // a kubelet stops its containers in this time
        return pod.deletion_grace.value_or(gang.grace.longest) <=
               gang.grace.longest;
    return told_to_end(pod) && pod.grace_period <= gang.grace.longest;
}

bool all_deleting_in_time(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return pod->terminal() || (pod->deleting && ends_in_time(gang, *pod));
    });
}

bool all_end_in_time(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return pod->terminal() || ends_in_time(gang, *pod);
    });
}

bool bound_by_us(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [](const PodPtr &pod) {
        return !pod->living() || binder_of(*pod);
    });
}

bool all_over(const Gang &gang)
{
    return std::ranges::all_of(
        gang.pods, [](const PodPtr &pod) { return pod->terminal(); });
}

bool all_vanishing(const Gang &gang)
{
    return std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return pod->deleting && !pod->bound() &&
               !gang.assumed_bound.contains(pod->uid);
    });
}

bool bound_by_others(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->bound() && !pod->terminal() && !lives_by_job(gang, *pod);
    });
}

bool any_placed_elsewhere(const Gang &gang)
{
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return placed_elsewhere(gang, *pod);
    });
}

bool uses_devices(const Pod &pod)
{
    return pod.needs_devices() || !pod.extended_claim.empty() ||
           requests_extended(pod.requests);
}

// Extended resources have a '/' in their name: example.com/gpu.
bool requests_extended(const Requests &requests)
{
    return std::ranges::any_of(requests.others, [](const auto &other) {
        return other.second != 0 && other.first.contains('/');
    });
}

std::uint32_t cpus_of(const Gang &gang, const Pod &pod)
{
    std::uint32_t cpus = whole_cpus_up(pod.requests.cpu);
    if (!gang.devices)
        return cpus;
    auto found = gang.devices->cpus.find(pod.uid);
    return found == gang.devices->cpus.end() ? cpus
                                             : std::max(cpus, found->second);
}

PodsByUid pods_by_uid(const Gang &gang)
{
    PodsByUid pods;
    for (const PodPtr &pod : gang.pods)
        pods.emplace(pod->uid, pod);
    return pods;
}

PodPtr find_pod(const PodsByUid &pods, const std::string &uid)
{
    auto found = pods.find(uid);
    return found == pods.end() ? nullptr : found->second;
}

std::unordered_set<std::string> seen_bound(const Gang &gang)
{
    std::unordered_set<std::string> uids;
    for (const PodPtr &pod : gang.pods)
        if (pod->bound())
            uids.insert(pod->uid);
    return uids;
}

std::vector<Seat> seats_of(const Gang &gang, const Bind &bind)
{
    std::vector<Seat> seats;
    const PodsByUid pods = pods_by_uid(gang);
    for (std::size_t i = 0; i < bind.nodes.size() && i < gang.pods.size(); i++)
        seats.push_back({gang.pods[i]->uid, bind.nodes[i]});
    for (const Seat &seat : bind.seats)
        if (pods.contains(seat.pod))
            seats.push_back(seat);
    return seats;
}

std::map<std::string, std::vector<PodPtr>> pods_by_node(const Gang &gang,
                                                        const Bind &bind)
{
    std::map<std::string, std::string> where; // by uid
    for (const Seat &seat : seats_of(gang, bind))
        where[seat.pod] = seat.node;
    std::map<std::string, std::vector<PodPtr>> pods;
    for (const PodPtr &pod : gang.pods)
        if (auto node = where.find(pod->uid); node != where.end())
            pods[node->second].push_back(pod);
    return pods;
}

Amounts amounts_of(const std::vector<PodPtr> &pods)
{
    Amounts sum;
    for (const PodPtr &pod : pods)
        sum += amounts_of(pod->requests);
    return sum;
}

bool ended_by_job(const Gang &gang, const Pod &pod)
{
    return gang.job && pod.terminal() && bound_by(pod, *gang.job);
}

std::size_t count_waiting(const Gang &gang)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        gang.pods, [&](const PodPtr &pod) { return waits(gang, *pod); }));
}

std::size_t count_of_job(const Gang &gang)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(gang.pods, [&](const PodPtr &pod) {
            return lives_by_job(gang, *pod) || ended_by_job(gang, *pod);
        }));
}

namespace {

// The uids of the controllers whose Pods wait.
std::unordered_set<std::string_view> owners_of_waiting(const Gang &gang)
{
    std::unordered_set<std::string_view> owners;
    for (const PodPtr &pod : gang.pods)
        if (waits(gang, *pod))
            owners.insert(pod->owner.uid);
    return owners;
}

} // namespace

std::size_t count_done_before(const Gang &gang)
{
    bool running = gang.job && !is_ended(gang.job->state);
    const auto successors = owners_of_waiting(gang);
    return static_cast<std::size_t>(
        std::ranges::count_if(gang.pods, [&](const PodPtr &pod) {
            if (pod->phase != "Succeeded" || pod->owner.uid.empty() ||
                (running && ended_by_job(gang, *pod)))
                return false;
            return !pod->gang || !pod->gang->by_label ||
                   successors.contains(pod->owner.uid);
        }));
}

bool is_job_of_these(const Gang &gang, const Job &job)
{
    return asked_for_these(gang, job) ||
           std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
               return pod->bound() && bound_by(*pod, job);
           });
}

std::size_t tasks_needed(const Gang &gang)
{
    std::size_t over = count_done_before(gang);
    std::size_t most = gang.elastic ? 0 : count_waiting(gang);
    return std::max<std::size_t>(
        {most, gang.size > over ? gang.size - over : 0, 1});
}

std::vector<PodPtr> asked_for(const Gang &gang)
{
    std::size_t most = tasks_needed(gang);
    std::vector<PodPtr> pods;
    for (const PodPtr &pod : gang.pods)
        if (!gang.elastic ? !pod->terminal()
                          : waits(gang, *pod) && pods.size() < most)
            pods.push_back(pod);
    return pods;
}

bool of_former_group(const Gang &gang)
{
    return gang.job && !gang.job->tag.group.empty() &&
           !gang.group_uid.empty() && gang.job->tag.group != gang.group_uid;
}

bool enough_wait(const Gang &gang)
{
    return count_waiting(gang) + count_done_before(gang) >= gang.minimum;
}

bool enough_by_done(const Gang &gang)
{
    return any_waits(gang) && enough_wait(gang) &&
           count_waiting(gang) < gang.minimum;
}

bool asked_for_these(const Gang &gang, const Job &job)
{
    bool batch = !job.tag.script.empty();
    return std::ranges::any_of(gang.pods, [&](const PodPtr &pod) {
        return pod->uid == job.tag.first && (batch || waits(gang, *pod));
    });
}

} // namespace bridge
