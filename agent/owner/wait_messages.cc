// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/wait_messages.h"

#include "agent/calls/kube_bodies.h"

#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace bridge {

namespace {

// Runs on a worker thread.
Result<> write_message(const Pod &pod, const PodWait &wait, Kube &kube)
{
    auto said = kube.set_unscheduled(pod, wait);
    if (said)
        (void)kube.post_event(pod, {PodEvent::Type::warning, "FailedScheduling",
                                    "Scheduling", wait.message});
    return said;
}

} // namespace

// Any thread may call it: the owner thread replaces what no worker has taken.
class WaitMessages::Slot {
  public:
    struct Words {
        PodPtr pod;
        PodWait wait;
        std::stop_token dropped;
    };

    void put(Words words)
    {
        std::lock_guard lock(mutex_);
        words_ = std::move(words);
    }
    // The words are written on the Pod as it is now: a write for an older state
    // of it would fail.
    void renew(const Pod &pod)
    {
        std::lock_guard lock(mutex_);
        if (words_)
            words_->pod = std::make_shared<const Pod>(pod);
    }
    std::optional<Words> take()
    {
        std::lock_guard lock(mutex_);
        taken_ = std::exchange(words_, std::nullopt);
        return taken_;
    }
    // Tells whether the Pod has changed since what was taken last.
    bool is_older_than(const Pod &pod)
    {
        std::lock_guard lock(mutex_);
        return taken_ && taken_->pod->resource_version != pod.resource_version;
    }
    // What was taken is to be written again, if the Pod has changed since.
    bool repeat_on(const PodPtr &pod)
    {
        std::lock_guard lock(mutex_);
        if (!taken_ || taken_->pod->resource_version == pod->resource_version)
            return false;
        words_ = std::exchange(taken_, std::nullopt);
        words_->pod = pod;
        return true;
    }
    void clear()
    {
        std::lock_guard lock(mutex_);
        words_.reset();
    }
    bool empty()
    {
        std::lock_guard lock(mutex_);
        return !words_;
    }

  private:
    std::mutex mutex_;
    std::optional<Words> words_;
    std::optional<Words> taken_; // the last
};

bool shows(const Pod &pod, const ShownMessage &shown)
{
    return pod.scheduled.reason == shown.reason &&
           pod.scheduled.message.starts_with(shown.message);
}

bool may_be_told(const Pod &pod)
{
    return !pod.bound() && !pod.terminal() && !pod.deleting;
}

void WaitMessages::tell(GangEntry &entry, const PodPtr &pod,
                        const PodWait &wait, const ShownMessage &shown)
{
    auto [known, is_new] = reports_.try_emplace(pod->uid);
    Report &report = known->second;
    if (is_new)
        report.slot = std::make_shared<Slot>();
    else if (!report.queued && report.shown == shown)
        return;
    report.gang = entry.gang.uid;
    report.shown = shown;
    report.slot->put({pod, wait, entry.telling.get_token()});
    if (!report.queued)
        push(pod->uid, pod->key.ns, report);
}

// If another message is being written now, the watch shows it later.
void WaitMessages::withdraw(const Pod &pod)
{
    auto known = reports_.find(pod.uid);
    if (known == reports_.end() || !known->second.queued)
        return;
    known->second.slot->clear();
    known->second.shown.message.clear();
}

void WaitMessages::push(const std::string &uid, const std::string &ns,
                        Report &report)
{
    errands_.report_in(
        ns,
        [slot = report.slot](Kube &kube) -> Result<bool> {
            auto words = slot->take();
            if (!words || words->dropped.stop_requested())
                return false;
            if (auto said = write_message(*words->pod, words->wait, kube);
                !said)
                return std::unexpected(said.error());
            return true;
        },
        [this, uid, ns](const Result<bool> &wrote) {
            answered(uid, ns, wrote);
        });
    report.queued = true;
}

// A write is for one state of the Pod: the next one that the watch shows has
// the message, or what somebody else wrote over it.
bool WaitMessages::has_followed(const Pod &pod, const Report &report)
{
    return report.slot->is_older_than(pod) || shows(pod, report.shown);
}

void WaitMessages::answered(const std::string &uid, const std::string &ns,
                            const Result<bool> &wrote)
{
    auto known = reports_.find(uid);
    if (known == reports_.end())
        return;
    Report &report = known->second;
    report.queued = false;
    PodPtr pod = gangs_.find_in(report.gang, uid);
    const bool listens =
        pod && may_be_told(*pod) && !report.shown.message.empty();
    const bool is_old =
        listens && !wrote && wrote.error().code == Code::conflict;
    if (!report.slot->empty() || (is_old && report.slot->repeat_on(pod))) {
        push(uid, ns, report);
        return;
    }
    const bool is_written = listens && wrote.value_or(false);
    const bool is_seen = is_written && has_followed(*pod, report);
    const bool is_lost = !wrote || (is_seen && !shows(*pod, report.shown));
    if (GangEntry *entry = is_lost ? gangs_.find(report.gang) : nullptr)
        entry->told.clear(); // repeat it when it is due
    if (!is_written || is_seen)
        reports_.erase(known);
}

void WaitMessages::note(const Pod &pod)
{
    auto known = reports_.find(pod.uid);
    if (known == reports_.end())
        return;
    const Report &report = known->second;
    if (report.queued && may_be_told(pod))
        report.slot->renew(pod);
    else if (report.queued)
        report.slot->clear();
    else if (!may_be_told(pod) || has_followed(pod, report))
        reports_.erase(known);
}

// Its task knows nothing to write, and ends the report.
void WaitMessages::forget(const std::string &pod)
{
    auto known = reports_.find(pod);
    if (known == reports_.end())
        return;
    if (known->second.queued)
        known->second.slot->clear();
    else
        reports_.erase(known);
}

bool WaitMessages::is_on_its_way(const Pod &pod,
                                 const ShownMessage &shown) const
{
    auto known = reports_.find(pod.uid);
    return known != reports_.end() && known->second.shown == shown;
}

} // namespace bridge
