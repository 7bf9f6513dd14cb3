// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/seat_devices.h"

#include "agent/decide/gang_place.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_cpus.h"
#include "common/slurm/gres_counts.h"

#include <algorithm>
#include <format>
#include <memory>
#include <utility>

namespace bridge {

namespace {

// Of a node whose plan is known already, as steps.
constexpr std::size_t cost_of_node = 300;

// Returns why the Pod takes more than a task of the job has, or "" if it does
// not. Types are ignored, because a driver that was away reports them again
// only later.
std::string too_much_gres_reason(const Job &job, const DeviceNeeds &needs)
{
    if (!job.gres_per_node.empty() || job.exclusive)
        return {};
    GresCounts has = asked_gres(job.gres_per_task);
    std::string wants = task_gres(needs);
    for (const auto &[kind, count] : asked_gres(wants))
        if (!kind.contains(':') && count > has[kind])
            return std::format("a task of it has {}, not {}",
                               has.empty() ? "no GRES" : job.gres_per_task,
                               wants);
    return {};
}

// Returns whether the job may be given up instead of waiting for others: none
// of these Pods runs by it, and it can be requested again.
bool can_give_way(const Gang &gang)
{
    return !gang.batch && count_of_job(gang) == 0;
}

// A list of jobs does not show GRES that accounting does not track, nor those
// that --gpus of sbatch requested.
bool is_unread(const Job &job, const std::map<std::string, DeviceNeeds> &needs)
{
    bool cpus = std::ranges::any_of(
        needs, [](const auto &pod) { return wants_cpus(pod.second); });
    bool unlisted = cpus || !job.tag.script.empty();
    return has_unread_gres(job) || (unlisted && !job.gres_read);
}

} // namespace

// The Pods that are placed on one node.
struct SeatDevices::OnNode {
    std::string node;              // Kubernetes' name
    std::vector<std::string> pods; // uids
    DeviceNeeds needs = {};        // of all of them together
};

bool SeatDevices::plan(GangEntry &entry,
                       const std::map<std::string, DeviceNeeds> &needs,
                       GangDevices &devices)
{
    const Gang &gang = entry.gang;
    const Job &job = *gang.job;
    devices.unread = is_unread(job, needs);
    if (devices.unread)
        return false;
    for (const auto &[pod, own] : needs)
        if (std::string at = to_.plan.place_of(job, own); !at.empty())
            devices.at[pod] = at;
    auto seats = seats_in(gang, devices);
    if (!seats)
        return false; // decide() finds that, too
    if (entry.claims_refused_job == job.ref && count_of_job(gang) == 0) {
        devices.plan = {.misfit = entry.claims_refused_reason,
                        .bad_node = true};
        devices.node = entry.claims_refused_node;
        return false;
    }
    ByNode by_node;
    bool later = plan_seats(gang, *seats, needs, by_node, devices);
    later |= plan_nodes(entry, by_node, devices);
    if (devices.unanswered)
        return false;
    if (later)
        to_.troubles.wait(entry, devices);
    else if (devices.not_now.empty())
        DeviceTroubles::over(entry);
    return later;
}

// A Pod alone has the first node of its job. Whether it may be there is for
// decide() to say.
Result<std::vector<Seat>>
SeatDevices::seats_in(const Gang &gang, const GangDevices &devices) const
{
    const NodeMap &known = to_.nodes.slurm_nodes();
    if (gang.grouped)
        return seat_pods(gang, known, devices.at);
    const std::string &name = gang.job->nodes.front();
    auto node = known.find(name);
    return std::vector<Seat>{
        {.pod = lead_of(gang).uid,
         .node = node == known.end() ? std::string() : node->second,
         .slurm_node = name}};
}

bool SeatDevices::is_used_by_others(const Gang &gang, const Pod &pod,
                                    const DeviceNeeds &needs)
{
    return !to_.needs.used_by_others_reason(gang, pod, needs).empty();
}

// Returns why nothing can be planned for the Pod, whose claims others do not
// use; an empty plan if it can. What one task of a job has is compared only
// where several share a node.
ClaimsPlan SeatDevices::trouble_with(const Gang &gang, const Seat &seat,
                                     const DeviceNeeds &needs)
{
    if (!needs.unfit_reason.empty())
        return {.wait = needs.unfit_reason};
    if (!needs.reason.empty())
        return {.wait = needs.reason};
    if (std::string by_plugin =
            to_.extended.unfit_node_reason(needs, seat.node);
        !by_plugin.empty())
        return {.misfit = by_plugin, .bad_node = true};
    if (gang.batch || !gang.grouped) // a batch job's follow from what it has
        return {};
    return {.misfit = too_much_gres_reason(*gang.job, needs)};
}

bool SeatDevices::plan_seats(const Gang &gang, const std::vector<Seat> &seats,
                             const std::map<std::string, DeviceNeeds> &needs,
                             ByNode &by_node, GangDevices &devices)
{
    bool later = false;
    const PodsByUid pods = pods_by_uid(gang);
    bool gives_way = can_give_way(gang);
    for (const Seat &seat : seats) {
        const DeviceNeeds &own = needs.at(seat.pod);
        const Pod &pod = *find_pod(pods, seat.pod);
        bool used = gives_way && is_used_by_others(gang, pod, own);
        ClaimsPlan none = used ? ClaimsPlan{.misfit = own.reason}
                               : trouble_with(gang, seat, own);
        if (is_trouble(none)) {
            later |= set_aside(devices, none, {seat.node, {seat.pod}});
            continue;
        }
        OnNode &there = by_node[seat.slurm_node];
        there.node = seat.node;
        there.pods.push_back(seat.pod);
        add_needs(there.needs, own);
    }
    return later;
}

// A job of a gang may have more devices on a node than these Pods need. That of
// a Pod alone must not, even if the Pod needs none any more, unless the job
// asked for them otherwise.
bool SeatDevices::plan_nodes(GangEntry &entry, const ByNode &by_node,
                             GangDevices &devices)
{
    const Gang &gang = entry.gang;
    const Job &job = *gang.job;
    DevicePlan::Run run{.may_exceed = gang.grouped ||
                                      !job.gres_per_node.empty() ||
                                      job.exclusive};
    std::vector<std::pair<const OnNode *, std::shared_ptr<const ClaimsPlan>>>
        plans;
    for (std::size_t i = 0; i < job.nodes.size() && !run.goes_on; i++) {
        auto found = by_node.find(job.nodes[i]);
        if (found == by_node.end())
            continue;
        const DeviceNeeds &needs = found->second.needs;
        if (gang.grouped && needs.claims.empty() && needs.plugins.empty())
            continue;
        plans.emplace_back(&found->second,
                           to_.plan.for_node(entry, i, needs, run));
    }
    to_.plan.end(entry, run);
    to_.needs.count(run.cost + plans.size() * cost_of_node);
    devices.unanswered = run.unanswered();
    devices.goes_on = run.goes_on;
    if (devices.unanswered)
        return false;
    bool later = false;
    for (const auto &[there, plan] : plans)
        if (is_trouble(*plan))
            later |= set_aside(devices, *plan, *there);
        else
            devices.plan.claims.insert(devices.plan.claims.end(),
                                       plan->claims.begin(),
                                       plan->claims.end());
    return later;
}

// These Pods cannot have their devices now. The first problem is reported, but
// a job that does not fit its Pods takes precedence. Returns true when they may
// have the devices soon.
bool SeatDevices::set_aside(GangDevices &devices, const ClaimsPlan &plan,
                            const OnNode &pods)
{
    devices.not_now.insert(pods.pods.begin(), pods.pods.end());
    bool says_more = devices.plan.misfit.empty() && !plan.misfit.empty();
    if (!is_trouble(devices.plan) || says_more) {
        devices.plan.misfit = plan.misfit;
        devices.plan.wait = plan.wait;
        devices.plan.bad_node = plan.bad_node;
        devices.node = pods.node;
    }
    return !plan.wait.empty();
}

} // namespace bridge
