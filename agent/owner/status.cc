// SPDX-License-Identifier: GPL-2.0-or-later
// What administrators see of the agent: metrics and status.
#include "agent/owner/status.h"

#include "common/base/json.h"

#include <algorithm>
#include <format>
#include <tuple>
#include <vector>

namespace bridge {

namespace {

// Without Pods to schedule it is enough to have the Lease.
bool is_serving(const OwnerParts &parts)
{
    if (parts.context.conf->schedule_pods)
        return parts.synced();
    return parts.context.standby.empty() &&
           !parts.context.health.problems().contains(start_problem);
}

} // namespace

std::string metrics_of(const OwnerParts &parts)
{
    std::map<std::string, std::size_t> gangs;
    for (const auto &[uid, entry] : parts.gangs.all())
        gangs[entry.gang.job ? state_name(entry.gang.job->state) : "NONE"]++;
    std::string text = parts.context.health.metrics();
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
                        parts.places.counted(), parts.places.in_line());
    text += std::format("# HELP slurmk8sd_pods_outside_queue Pods on Slurm's "
                        "nodes that no job stands for and no DaemonSet owns.\n"
                        "# TYPE slurmk8sd_pods_outside_queue gauge\n"
                        "slurmk8sd_pods_outside_queue {}\n",
                        parts.outside.count());
    text += std::format("# HELP slurmk8sd_pods_vanished Pods whose objects are "
                        "gone and whose containers may still run.\n"
                        "# TYPE slurmk8sd_pods_vanished gauge\n"
                        "slurmk8sd_pods_vanished {}\n",
                        parts.room.gate().count_vanished());
    text += std::format("# HELP slurmk8sd_tasks Tasks that wait for a worker.\n"
                        "# TYPE slurmk8sd_tasks gauge\n"
                        "slurmk8sd_tasks{{queue=\"submits\"}} {}\n"
                        "slurmk8sd_tasks{{queue=\"actions\"}} {}\n"
                        "slurmk8sd_tasks{{queue=\"reports\"}} {}\n",
                        parts.context.ports.submits.size(),
                        parts.context.ports.workers.size(),
                        parts.context.ports.reporters.size());
    return text;
}

std::string status_of(const OwnerParts &parts)
{
    std::vector<const GangEntry *> sorted;
    for (const auto &[uid, entry] : parts.gangs.all())
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
    for (const auto &[what, reason] : parts.context.health.problems())
        if (parts.context.standby.empty() || what != start_problem)
            problems.emplace_back(what, reason);
    JsonValue::Object off;
    for (const auto &[feature, reason] : parts.context.features_off)
        off.emplace_back(feature, reason);
    return JsonValue::object(
               {{"serving", is_serving(parts)},
                {"workersOnly", !parts.context.conf->schedule_pods},
                {"standby", parts.context.standby},
                {"problems", JsonValue::object(problems)},
                {"featuresOff", JsonValue::object(off)},
                {"gangs", JsonValue::array(std::move(gangs))}})
        .dump();
}

} // namespace bridge
