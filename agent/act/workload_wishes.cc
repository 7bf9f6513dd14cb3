// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/workload_wishes.h"

#include "agent/decide/job_requests.h"

#include <chrono>

namespace bridge {

namespace {

constexpr int most_levels = 3; // Pod, Job, JobSet; Pod, ReplicaSet, Deployment
constexpr std::chrono::minutes believed{1};
constexpr std::size_t most_known = 10000;

// Whether trying again cannot help.
bool is_final(Code code)
{
    return code == Code::not_found || code == Code::denied ||
           code == Code::rejected;
}

} // namespace

std::optional<Workload> Owners::look_up(const Key &key, Clock::time_point now)
{
    std::lock_guard lock(mutex_);
    auto known = known_.find(key);
    if (known == known_.end() || now - known->second.since >= believed)
        return std::nullopt;
    return known->second.workload;
}

// With the mutex.
void Owners::sweep(Clock::time_point now)
{
    if (known_.size() >= most_known)
        known_.clear();
    if (now - swept_ < believed)
        return;
    swept_ = now;
    std::erase_if(known_, [now](const auto &known) {
        return now - known.second.since >= believed;
    });
}

Result<Workload> Owners::find(const std::string &ns, const OwnerRef &owner,
                              Kube &kube, Clock::time_point now)
{
    Key key{ns, owner};
    if (auto known = look_up(key, now))
        return *known;
    auto read = kube.get_owner(ns, owner);
    if (!read && !is_final(read.error().code))
        // Nothing was written, so even an uncertain answer is only busy.
        return fail(Code::busy, read.error().message);
    Workload workload = read ? std::move(*read) : Workload{};
    std::lock_guard lock(mutex_);
    sweep(now);
    known_.insert_or_assign(std::move(key), Known{workload, now});
    return workload;
}

Result<Pod> Owners::with_wishes(const Pod &pod, Kube &kube,
                                Clock::time_point now)
{
    Pod with = pod;
    OwnerRef owner = pod.owner;
    for (int level = 0; level < most_levels && !owner.kind.empty(); level++) {
        auto workload = find(pod.key.ns, owner, kube, now);
        if (!workload)
            return std::unexpected(workload.error());
        add_wishes(with.annotations, workload->annotations);
        owner = workload->owner;
    }
    return with;
}

} // namespace bridge
