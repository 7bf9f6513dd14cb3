// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/voice.h"

#include "agent/calls/kube_bodies.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/slurm/het_job.h"

#include <algorithm>
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

// message: as the API server has it, condition_message().
bool shows(const Pod &pod, const std::string &reason,
           const std::string &message)
{
    return pod.scheduled.reason == reason &&
           pod.scheduled.message.starts_with(message);
}

bool is_told(const Pod &pod)
{
    return !pod.bound() && !pod.terminal() && !pod.deleting;
}

} // namespace

// Any thread may call it: the owner thread replaces what no worker has taken.
class Voice::Slot {
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

// The Node of a job of one node. Pods of several wait for each other, and are
// bound together.
std::string Voice::nominated(const Gang &gang) const
{
    if (!gang.job || !is_allocated(gang.job->state) ||
        gang.job->nodes.size() != 1)
        return {};
    const Node *node = nodes_.behind(gang.job->nodes.front());
    return node ? node->name : std::string();
}

void Voice::say(GangEntry &entry, const std::string &reason,
                const std::string &message, const std::string &more)
{
    if (entry.told == message && entry.told_reason == reason)
        return;
    entry.told = message;
    entry.told_reason = reason;
    const std::string shown = condition_message(message);
    PodWait wait{reason, more.empty() ? message : message + " " + more,
                 nominated(entry.gang)};
    for (const PodPtr &pod : entry.gang.pods) {
        if (!is_told(*pod))
            continue;
        if (shows(*pod, reason, shown))
            withdraw(*pod);
        else
            tell(entry, pod, wait, shown);
    }
}

// A message that was written, and that the watch does not show yet, is not
// written again.
void Voice::tell(GangEntry &entry, const PodPtr &pod, const PodWait &wait,
                 const std::string &shown)
{
    auto [known, is_new] = reports_.try_emplace(pod->uid);
    Report &report = known->second;
    if (is_new)
        report.slot = std::make_shared<Slot>();
    else if (!report.queued && report.reason == wait.reason &&
             report.message == shown)
        return;
    report.gang = entry.gang.uid;
    report.reason = wait.reason;
    report.message = shown;
    report.slot->put({pod, wait, entry.telling.get_token()});
    if (!report.queued)
        push(pod->uid, pod->key.ns, report);
}

// If another message is being written now, the watch shows it to check().
void Voice::withdraw(const Pod &pod)
{
    auto known = reports_.find(pod.uid);
    if (known == reports_.end() || !known->second.queued)
        return;
    known->second.slot->clear();
    known->second.message.clear();
}

void Voice::push(const std::string &uid, const std::string &ns, Report &report)
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

void Voice::answered(const std::string &uid, const std::string &ns,
                     const Result<bool> &wrote)
{
    auto known = reports_.find(uid);
    if (known == reports_.end())
        return;
    Report &report = known->second;
    report.queued = false;
    PodPtr pod = gangs_.find_in(report.gang, uid);
    const bool listens = pod && is_told(*pod) && !report.message.empty();
    const bool is_old =
        listens && !wrote && wrote.error().code == Code::conflict;
    if (!report.slot->empty() || (is_old && report.slot->repeat_on(pod))) {
        push(uid, ns, report);
        return;
    }
    if (GangEntry *entry = wrote ? nullptr : gangs_.find(report.gang))
        entry->told.clear(); // repeat it when it is due
    bool is_awaited = listens && wrote.value_or(false) &&
                      !shows(*pod, report.reason, report.message);
    if (!is_awaited)
        reports_.erase(known);
}

void Voice::warn_once(GangEntry &entry, const std::string &reason,
                      const std::string &text)
{
    if (entry.told != text)
        warn(entry.gang, reason, text);
    entry.told = text;
}

void Voice::warn(const Gang &gang, const std::string &reason,
                 const std::string &text) const
{
    for (const PodPtr &pod : gang.pods)
        if (pod->living())
            errands_.report_in(pod->key.ns, [pod, reason, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::warning, reason,
                                             "Scheduling", text});
            });
}

// A message that the Pods already show is repeated only when the class of the
// reason changes: a moving queue must not cause a storm of writes.
void Voice::say_pending_reason(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.job->state != JobState::pending || gang.stale ||
        !gang.placement.nowhere.empty() || gang.job->reason.empty())
        return;
    // Of one class a reason is said again only if more nodes would help now,
    // and would not before: the other way, the queue has moved for a moment.
    std::string reason = scheduled_reason(gang);
    auto says_it = [&](const std::string &message, const std::string &shown) {
        return has_reason_class_of(message, *gang.job) &&
               (shown == names::unschedulable ||
                reason != names::unschedulable);
    };
    if (says_it(entry.told, entry.told_reason))
        return;
    bool on_pods = std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return says_it(pod->scheduled.message, pod->scheduled.reason);
    });
    if (on_pods) { // this agent said so before a restart
        entry.told = waiting_message(*gang.job);
        entry.told_reason =
            gang.pods.empty() ? reason : gang.pods.front()->scheduled.reason;
    } else
        say(entry, waiting_message(*gang.job),
            expected_start_message(*gang.job));
}

void Voice::say_bound(const Gang &gang, const Bind &bind) const
{
    for (const auto &[node, pods] : pods_by_node(gang, bind))
        for (const PodPtr &pod : pods) {
            std::string text = bound_message(*pod, node, bind.job);
            if (gang.grouped && gang.job)
                text += waste_message(
                    *pod, cpus_of(gang, *pod),
                    component_on(*gang.job, nodes_.slurm_name_of(node)));
            errands_.report_in(pod->key.ns, [pod, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::normal,
                                             "Scheduled", "Binding", text});
            });
        }
}

void Voice::hush(GangEntry &entry) const
{
    entry.telling.request_stop();
    entry.telling = {};
    entry.told.clear();
    entry.told_reason.clear();
}

void Voice::check(const Pod &pod)
{
    note(pod);
    if (!pod.gang || pod.bound() || pod.scheduled.message.empty())
        return;
    GangEntry *entry = gangs_.find(pod.gang->uid);
    if (!entry || entry->told.empty())
        return;
    const std::string shown = condition_message(entry->told);
    auto known = reports_.find(pod.uid);
    bool comes = known != reports_.end() &&
                 known->second.reason == entry->told_reason &&
                 known->second.message == shown;
    if (!comes && !shows(pod, entry->told_reason, shown))
        entry->told.clear();
}

void Voice::note(const Pod &pod)
{
    auto known = reports_.find(pod.uid);
    if (known == reports_.end())
        return;
    const Report &report = known->second;
    if (report.queued && is_told(pod))
        report.slot->renew(pod);
    else if (report.queued)
        report.slot->clear();
    else if (!is_told(pod) || shows(pod, report.reason, report.message))
        reports_.erase(known);
}

// Its task knows nothing to write, and ends the report.
void Voice::forget(const std::string &pod)
{
    auto known = reports_.find(pod);
    if (known == reports_.end())
        return;
    if (known->second.queued)
        known->second.slot->clear();
    else
        reports_.erase(known);
}

} // namespace bridge
