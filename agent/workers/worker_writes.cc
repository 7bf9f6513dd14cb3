// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/worker_writes.h"

#include <utility>

namespace bridge {

namespace {

// What the Pod does not carry yet. What an earlier patch may have changed is
// not known, and is written again.
WorkerPatch difference(const WorkerPod &pod, const WorkerPlan &plan,
                       const WorkerPatch &uncertain)
{
    WorkerPatch patch;
    for (const auto &[type, condition] : plan.conditions) {
        auto has = pod.conditions.find(type);
        if (has == pod.conditions.end() || has->second != condition ||
            uncertain.conditions.contains(type))
            patch.conditions.emplace(type, condition);
    }
    if (pod.protect != plan.protect || uncertain.protect)
        patch.protect = plan.protect;
    if (pod.deadline != plan.deadline || uncertain.deadline)
        patch.deadline = plan.deadline;
    return patch;
}

} // namespace

void apply(WorkerPod &pod, const WorkerPatch &patch)
{
    for (const auto &[type, condition] : patch.conditions)
        pod.conditions[type] = condition;
    pod.protect = patch.protect.value_or(pod.protect);
    pod.deadline = patch.deadline.value_or(pod.deadline);
}

bool WorkerWrites::carries(const WorkerPod &pod, const WorkerPlan &plan,
                           Clock::time_point now)
{
    auto known = all_.find(pod.uid);
    bool is_known = known != all_.end();
    if (is_known && known->second.under_way)
        return false;
    WorkerPatch patch =
        difference(pod, plan,
                   is_known && known->second.uncertain ? known->second.patch
                                                       : WorkerPatch{});
    if (patch.empty()) {
        if (is_known) // somebody else has made it true, or it is not wanted
            all_.erase(known);
        return true;
    }
    // Another wish does not rest: it may take an answer back.
    if (is_known && now < known->second.rests_until &&
        known->second.patch == patch)
        return false;
    One &one = is_known ? known->second : all_[pod.uid];
    one.patch = patch;
    one.under_way = true;
    one.told = false;
    writer_.begin({pod, std::move(patch), !one.error.empty()});
    return false;
}

void WorkerWrites::told(const std::string &uid)
{
    if (auto known = all_.find(uid); known != all_.end())
        known->second.told = true;
}

std::optional<WorkerPatch> WorkerWrites::written(const std::string &uid,
                                                 const Result<> &done,
                                                 Clock::time_point now)
{
    auto known = all_.find(uid);
    if (known == all_.end())
        return std::nullopt;
    One &one = known->second;
    if (done || done.error().code == Code::not_found) {
        // Of a Pod that is gone the watch will tell, too.
        auto made = one.told ? std::nullopt : std::optional(one.patch);
        all_.erase(known);
        return made;
    }
    one.under_way = false;
    one.uncertain |= done.error().code == Code::uncertain;
    one.error = done.error().message;
    one.rests_until = now + one.backoff.next(random_);
    return std::nullopt;
}

bool WorkerWrites::is_under_way(const std::string &uid) const
{
    auto known = all_.find(uid);
    return known != all_.end() && known->second.under_way;
}

std::string WorkerWrites::failure() const
{
    for (const auto &[uid, one] : all_)
        if (!one.error.empty())
            return one.error;
    return {};
}

} // namespace bridge
