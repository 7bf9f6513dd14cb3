// SPDX-License-Identifier: GPL-2.0-or-later
// FakeKube's Pods as users and kubelets have them, the record of all calls, and
// what goes wrong with them.
#include "tests/unit/fakes/fake_kube.h"

namespace bridge {

Pod FakeKube::put(Pod pod)
{
    {
        std::lock_guard lock(mutex_);
        if (pod.uid.empty())
            pod.uid = "uid-" + std::to_string(++uids_);
        if (pod.phase.empty())
            pod.phase = "Pending";
        pod.resource_version = std::to_string(++version_);
        pods_[pod.key] = pod;
    }
    tell(pod, false);
    return pod;
}

bool FakeKube::change(const ObjectKey &key,
                      const std::function<void(Pod &)> &edit)
{
    auto pod = find(key);
    return pod && write_to(*pod, [&](Pod &there) -> Result<> {
                      edit(there);
                      return {};
                  }).has_value();
}

bool FakeKube::erase(const ObjectKey &key)
{
    {
        std::lock_guard lock(mutex_);
        auto found = pods_.find(key);
        if (found != pods_.end() && found->second.living())
            found->second.phase = "Failed";
    }
    return vanish(key);
}

bool FakeKube::vanish(const ObjectKey &key)
{
    Pod last;
    {
        std::lock_guard lock(mutex_);
        auto found = pods_.find(key);
        if (found == pods_.end())
            return false;
        last = std::move(found->second);
        last.resource_version = std::to_string(++version_);
        pods_.erase(found);
        // It owned them: Kubernetes' garbage collector.
        std::erase_if(services, [&](const auto &service) {
            return service.second.contains("\"uid\":\"" + last.uid + "\"");
        });
    }
    tell(last, true);
    return true;
}

std::optional<Pod> FakeKube::find(const ObjectKey &key) const
{
    std::lock_guard lock(mutex_);
    auto found = pods_.find(key);
    return found == pods_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Pod> FakeKube::pods() const
{
    std::lock_guard lock(mutex_);
    std::vector<Pod> all;
    for (const auto &[key, pod] : pods_)
        all.push_back(pod);
    return all;
}

void FakeKube::on_change(OnChange callback)
{
    std::lock_guard lock(mutex_);
    on_change_ = std::move(callback);
}

void FakeKube::fail_next(const std::string &what, Code code,
                         std::chrono::seconds retry_after)
{
    std::lock_guard lock(mutex_);
    mishaps_[what].emplace_back(Mishap::refuse,
                                Error{code, "as the test wants", retry_after});
}

void FakeKube::fail_always(const std::string &what, Code code)
{
    std::lock_guard lock(mutex_);
    always_[what] = Error{code, "as the test wants", {}};
}

void FakeKube::heal(const std::string &what)
{
    std::lock_guard lock(mutex_);
    always_.erase(what);
}

void FakeKube::lose_reply(const std::string &what)
{
    std::lock_guard lock(mutex_);
    mishaps_[what].emplace_back(
        Mishap::lose, Error{Code::uncertain, "as the test wants", {}});
}

std::vector<FakeKube::Call> FakeKube::calls() const
{
    std::lock_guard lock(mutex_);
    return calls_;
}

std::vector<std::pair<ObjectKey, PodEvent>> FakeKube::events() const
{
    std::lock_guard lock(mutex_);
    return events_;
}

Result<> FakeKube::act(const Call &call, const Pod &pod, const Write &write)
{
    auto [mishap, error] = next_mishap(call);
    if (mishap == Mishap::refuse)
        return std::unexpected(error);
    auto said = write_to(pod, write);
    if (mishap == Mishap::lose)
        return std::unexpected(error);
    return said;
}

Result<> FakeKube::write_to(const Pod &pod, const Write &write)
{
    Pod written;
    {
        std::lock_guard lock(mutex_);
        auto found = pods_.find(pod.key);
        if (found == pods_.end())
            return fail(Code::not_found, "no Pod=" + pod.key.str());
        if (found->second.uid != pod.uid)
            return fail(Code::conflict, "another Pod has this name");
        if (auto said = write(found->second); !said)
            return said;
        found->second.resource_version = std::to_string(++version_);
        written = found->second;
    }
    tell(written, false);
    return {};
}

std::pair<FakeKube::Mishap, Error> FakeKube::next_mishap(const Call &call)
{
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    if (auto always = always_.find(call.what); always != always_.end())
        return {Mishap::refuse, always->second};
    auto &waiting = mishaps_[call.what];
    if (waiting.empty())
        return {Mishap::none, {}};
    auto next = waiting.front();
    waiting.pop_front();
    return next;
}

void FakeKube::tell(const Pod &pod, bool deleted) const
{
    std::unique_lock lock(mutex_);
    OnChange callback = on_change_;
    lock.unlock();
    if (callback)
        callback(pod, deleted);
}

} // namespace bridge
