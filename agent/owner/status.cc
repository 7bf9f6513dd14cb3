// SPDX-License-Identifier: GPL-2.0-or-later
// What administrators see of the agent: metrics and status.
#include "agent/owner/status.h"

#include "common/base/json.h"

#include <algorithm>
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

// Of a standby nobody expects that it has begun.
std::map<std::string, std::string> problems_of(const Context &context)
{
    auto problems = context.health.problems();
    if (!context.standby.empty())
        for (const char *expected : {start_problem, plugin_problem})
            problems.erase(expected);
    return problems;
}

void write_gangs(const GangStore &all, MetricText &text)
{
    struct Count {
        std::uint64_t gangs = 0;
        std::uint64_t pods = 0;
    };
    std::map<std::string, Count> counts;
    for (const auto &[uid, entry] : all.all()) {
        const Gang &gang = entry.gang;
        const auto living = std::ranges::count_if(
            gang.pods, [](const PodPtr &pod) { return !pod->terminal(); });
        if (living == 0)
            continue;
        Count &count = counts[gang.job ? state_name(gang.job->state) : "NONE"];
        count.gangs++;
        count.pods += static_cast<std::uint64_t>(living);
    }
    text.gauge("slurmk8sd_gangs", "Gangs with a Pod that has not ended, by the "
                                  "state of their Slurm job.");
    for (const auto &[state, count] : counts)
        text.add(count.gangs, {{"job_state", state}});
    text.gauge("slurmk8sd_gang_pods",
               "Pods in gangs that have not ended, by the state of the gang's "
               "Slurm job.");
    for (const auto &[state, count] : counts)
        text.add(count.pods, {{"job_state", state}});
}

void write_claims(const ClaimStore &claims, MetricText &text)
{
    if (!claims.listed())
        return;
    const ClaimStore::Counts counts = claims.count();
    text.gauge("slurmk8sd_resource_claims",
               "ResourceClaims: in use (reserved), with devices that no Pod "
               "uses (allocated), without devices (pending).");
    text.add(counts.reserved, {{"state", "reserved"}});
    text.add(counts.allocated, {{"state", "allocated"}});
    text.add(counts.pending, {{"state", "pending"}});
}

} // namespace

void write_metrics(const OwnerParts &parts, MetricText &text)
{
    parts.context.health.write_metrics(text);
    text.gauge("slurmk8sd_problems", "Problems at the moment.",
               problems_of(parts.context).size());
    write_gangs(parts.gangs, text);
    write_claims(parts.devices.claims(), text);
    text.gauge("slurmk8sd_pending_jobs",
               "Gangs that wait in Slurm, or stand in line for it.");
    text.add(std::uint64_t{parts.places.counted()}, {{"where", "slurm"}});
    text.add(std::uint64_t{parts.places.in_line()}, {{"where", "line"}});
    text.gauge("slurmk8sd_pods_outside_queue",
               "Pods on Slurm's nodes that no job stands for and no DaemonSet "
               "owns.",
               parts.outside.count());
    text.gauge("slurmk8sd_pods_vanished",
               "Pods whose objects are gone and whose containers may still "
               "run.",
               parts.room.gate().count_vanished());
    text.gauge("slurmk8sd_tasks", "Tasks that wait for a worker.");
    const BridgePorts &ports = parts.context.ports;
    text.add(std::uint64_t{ports.submits.size()}, {{"queue", "submits"}});
    text.add(std::uint64_t{ports.workers.size()}, {{"queue", "actions"}});
    text.add(std::uint64_t{ports.reporters.size()}, {{"queue", "reports"}});
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
    for (const auto &[what, reason] : problems_of(parts.context))
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
