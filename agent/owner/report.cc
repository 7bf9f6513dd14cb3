// SPDX-License-Identifier: GPL-2.0-or-later
// Messages for people: conditions and Events on Pods, metrics and status.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <format>
#include <tuple>
#include <vector>

namespace bridge {

namespace {

// Runs on a worker.
Result<> write_message(const Pod &pod, const std::string &text,
                       const std::stop_token &dropped, Kube &kube)
{
    if (dropped.stop_requested())
        return {};
    auto said = kube.set_unscheduled(pod, "Unschedulable", text);
    if (said)
        (void)kube.post_event(pod, {PodEvent::Type::warning, "FailedScheduling",
                                    "Scheduling", text});
    return said;
}

} // namespace

// Reports the message on each waiting Pod, as its condition and as an Event,
// unless the Pod shows it already. more is added to the message; a change of
// more alone is not worth a write.
void Bridge::report_on_pods(GangEntry &entry, const std::string &message,
                            const std::string &more)
{
    if (entry.told == message)
        return;
    entry.told = message;
    std::string text = more.empty() ? message : message + " " + more;
    for (const PodPtr &pod : entry.gang.pods) {
        if (pod->bound() || pod->terminal() || pod->deleting ||
            pod->scheduled.message.starts_with(message))
            continue;
        errands_.report(
            [pod, text, dropped = entry.telling.get_token()](Kube &kube) {
                return write_message(*pod, text, dropped, kube);
            },
            [this, uid = pod->uid](const Result<> &said) {
                if (GangEntry *known = said ? nullptr : gangs_.find(uid))
                    known->told.clear(); // repeat it when it is due
            });
    }
}

// Posts an Event on the living Pods.
void Bridge::report_event(const Gang &gang, const std::string &reason,
                          const std::string &text)
{
    for (const PodPtr &pod : gang.pods)
        if (pod->living())
            errands_.report([pod, reason, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::warning, reason,
                                             "Scheduling", text});
            });
}

// A message that the Pods already show is repeated only when the class of the
// reason changes: a moving queue must not cause a storm of writes.
void Bridge::report_pending_reason(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.job->state != JobState::pending || gang.stale ||
        !gang.nowhere.empty() || gang.job->reason.empty() ||
        has_reason_class_of(entry.told, *gang.job))
        return;
    bool on_pods = std::ranges::all_of(gang.pods, [&](const PodPtr &pod) {
        return has_reason_class_of(pod->scheduled.message, *gang.job);
    });
    if (on_pods) // this agent said so before a restart
        entry.told = waiting_message(*gang.job);
    else
        report_on_pods(entry, waiting_message(*gang.job),
                       expected_start_message(*gang.job));
}

void Bridge::report_bound(const Gang &gang, const Bind &bind)
{
    for (const auto &[node, pods] : pods_by_node(gang, bind))
        for (const PodPtr &pod : pods) {
            std::string text = bound_message(*pod, node, bind.job);
            if (gang.grouped && gang.job)
                text += waste_message(
                    *pod, cpus_of(gang, *pod),
                    component_on(*gang.job, nodes_.slurm_name_of(node)));
            errands_.report([pod, text](Kube &kube) {
                (void)kube.post_event(*pod, {PodEvent::Type::normal,
                                             "Scheduled", "Binding", text});
            });
        }
}

std::string Bridge::metrics() const
{
    std::map<std::string, std::size_t> gangs;
    for (const auto &[uid, entry] : gangs_.all())
        gangs[entry.gang.job ? state_name(entry.gang.job->state) : "NONE"]++;
    std::string text = context_.health.metrics();
    text += "# HELP slurmk8sd_gangs Gangs by the state of their Slurm job.\n"
            "# TYPE slurmk8sd_gangs gauge\n";
    for (const auto &[state, count] : gangs)
        text += std::format("slurmk8sd_gangs{{job_state=\"{}\"}} {}\n", state,
                            count);
    text += std::format("# HELP slurmk8sd_pending_jobs Gangs that wait in "
                        "Slurm, or stand in line for it.\n"
                        "# TYPE slurmk8sd_pending_jobs gauge\n"
                        "slurmk8sd_pending_jobs{{where=\"slurm\"}} {}\n"
                        "slurmk8sd_pending_jobs{{where=\"line\"}} {}\n",
                        quota_.counted(), quota_.in_line());
    auto is_ours = [this](const std::string &node) {
        return nodes_.is_slurms(node);
    };
    text += std::format("# HELP slurmk8sd_pods_outside_queue Pods on Slurm's "
                        "nodes that no job stands for and no DaemonSet owns.\n"
                        "# TYPE slurmk8sd_pods_outside_queue gauge\n"
                        "slurmk8sd_pods_outside_queue {}\n",
                        foreign_.count_outside_queue(is_ours) +
                            strays_.count_outside_queue(is_ours));
    text += std::format("# HELP slurmk8sd_pods_vanished Pods whose objects are "
                        "gone and whose containers may still run.\n"
                        "# TYPE slurmk8sd_pods_vanished gauge\n"
                        "slurmk8sd_pods_vanished {}\n",
                        gate_.count_vanished());
    text += std::format("# HELP slurmk8sd_tasks Tasks that wait for a worker.\n"
                        "# TYPE slurmk8sd_tasks gauge\n"
                        "slurmk8sd_tasks{{queue=\"submits\"}} {}\n"
                        "slurmk8sd_tasks{{queue=\"actions\"}} {}\n"
                        "slurmk8sd_tasks{{queue=\"reports\"}} {}\n",
                        context_.ports.submits.size(),
                        context_.ports.workers.size(),
                        context_.ports.reporters.size());
    return text;
}

std::string Bridge::status_json() const
{
    std::vector<const GangEntry *> sorted;
    for (const auto &[uid, entry] : gangs_.all())
        sorted.push_back(&entry);
    std::ranges::sort(sorted, {}, [](const GangEntry *entry) {
        return std::tie(entry->gang.key, entry->gang.uid);
    });
    JsonValue::Array gangs;
    for (const GangEntry *entry : sorted) {
        const Gang &gang = entry->gang;
        JsonValue line = JsonValue::object({{"gang", gang.key.str()}});
        if (gang.job)
            line.add("jobId", gang.job->ref.id)
                .add("state", state_name(gang.job->state))
                .add("reason", gang.job->reason);
        line.add("node", gang.pods.empty() ? "" : gang.pods.front()->node_name)
            .add("said", entry->told);
        gangs.push_back(std::move(line));
    }
    JsonValue::Object problems;
    for (const auto &[what, reason] : context_.health.problems())
        if (standby_.empty() || what != start_problem)
            problems.emplace_back(what, reason);
    JsonValue::Object off;
    for (const auto &[feature, reason] : features_off_)
        off.emplace_back(feature, reason);
    return JsonValue::object({{"serving", synced()},
                              {"standby", standby_},
                              {"problems", JsonValue::object(problems)},
                              {"featuresOff", JsonValue::object(off)},
                              {"gangs", JsonValue::array(std::move(gangs))}})
        .dump();
}

} // namespace bridge
