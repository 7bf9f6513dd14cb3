// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims of Pods that belong together: one job has GRES for all of
// them, and the Pods on one node share what it was given there.
#include "agent/owner/bridge.h"

#include "agent/decide/gang_place.h"
#include "agent/gang/facts.h"
#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "agent/gres/device_ask.h"
#include "common/slurm/gres_counts.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge {

namespace {

std::string of_pod(const Pod &pod, const std::string &words)
{
    return std::format("Pod {}: {}", pod.key.name, words);
}

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

bool is_trouble(const ClaimsPlan &plan)
{
    return !plan.misfit.empty() || !plan.wait.empty();
}

// Returns whether the job may be given up instead of waiting for others: none
// of these Pods runs by it, and it can be requested again.
bool can_give_way(const Gang &gang)
{
    return !gang.batch && count_of_job(gang) == 0;
}

// Returns why nothing can be planned for the Pod; an empty plan if it can.
// by_plugin is the reason against its Node, or "".
ClaimsPlan trouble_with(const Gang &gang, const DeviceNeeds &needs,
                        const std::string &by_plugin)
{
    if (!needs.unfit_reason.empty())
        return {.wait = needs.unfit_reason};
    if (!needs.reason.empty())
        return {.wait = needs.reason};
    if (!by_plugin.empty())
        return {.misfit = by_plugin, .bad_node = true};
    if (gang.batch) // its devices follow from what the job has there
        return {};
    return {.misfit = too_much_gres_reason(*gang.job, needs)};
}

// The Pods that are placed on one node.
struct NodeSeats {
    std::string node;              // Kubernetes' name
    std::vector<std::string> pods; // uids
    DeviceNeeds needs;             // of all of them together
};

// These Pods cannot have their devices now. The first problem is reported, but
// a job that does not fit its Pods takes precedence. Returns true when they may
// have the devices soon.
bool set_aside(GangDevices &devices, const ClaimsPlan &plan,
               const NodeSeats &seats)
{
    devices.not_now.insert(seats.pods.begin(), seats.pods.end());
    bool says_more = devices.plan.misfit.empty() && !plan.misfit.empty();
    if (!is_trouble(devices.plan) || says_more) {
        devices.plan.misfit = plan.misfit;
        devices.plan.wait = plan.wait;
        devices.plan.bad_node = plan.bad_node;
        devices.node = seats.node;
    }
    return !plan.wait.empty();
}

void add_unlike(std::vector<NodeSelector> &to,
                const std::vector<NodeSelector> &more)
{
    for (const NodeSelector &one : more)
        if (!std::ranges::contains(to, one))
            to.push_back(one);
}

// pods are those for which a job is requested.
void sum_up(const std::vector<DeviceNeeds> &pods, GangDevices &devices)
{
    if (auto claim = shared_claim(pods); claim && devices.unfit_reason.empty())
        devices.unfit_reason = std::format(
            "several Pods of the gang share the ResourceClaim {}, which is not "
            "supported before it has its devices",
            claim->key.name);
    devices.gres = task_gres(pods);
    for (const DeviceNeeds &pod : pods)
        if (devices.asked.empty())
            devices.asked = asked_words(pod);
}

} // namespace

void Bridge::read_gang_needs(GangEntry &entry, GangDevices &devices)
{
    Gang &gang = entry.gang;
    bool asks = !gang.job || !is_allocated(gang.job->state);
    for (const PodPtr &pod : gang.pods) {
        if (!waits(gang, *pod))
            continue;
        claim_users_.add(gang, *pod);
        if (asks)
            std::ranges::move(holds_of(*pod), std::back_inserter(devices.left));
    }
    narrow(gang, but_for_excluded(entry));
    if (!devices.left.empty() || (asks && !enough_wait(gang)))
        return;
    ClaimFacts facts = claim_facts(gang);
    std::map<std::string, DeviceNeeds> needs; // by uid
    std::vector<DeviceNeeds> asked;
    std::vector<NodeSelector> selectors;
    std::vector<PodPtr> pods = asks ? asked_for(gang) : gang.pods;
    std::erase_if(pods, [&](const PodPtr &pod) { return !waits(gang, *pod); });
    if (asks)
        devices.unfit_reason = not_together_reason(
            pods, facts, *devices_.catalog(), nodes_.hybrid());
    for (const PodPtr &pod : pods) {
        facts.extended = extended_needs_of(entry, *pod);
        DeviceNeeds own = device_needs(*pod, facts);
        if (own.reason.empty())
            own.reason = used_by_others_reason(gang, *pod, own);
        record_cpus(*pod, own, *devices_.catalog(), devices);
        if (!asks) {
            needs[pod->uid] = std::move(own);
            continue;
        }
        add_unlike(selectors, own.selectors);
        if (!own.unfit_reason.empty() && devices.unfit_reason.empty())
            devices.unfit_reason = of_pod(*pod, own.unfit_reason);
        if (!own.reason.empty() && devices.reason.empty())
            devices.reason = of_pod(*pod, own.reason);
        bool stops = !devices.unfit_reason.empty() || !devices.reason.empty();
        if (stops && !gang.job)
            return; // the others are looked at when that is over
        std::ranges::move(claims_counted(*pod, own),
                          std::back_inserter(devices.counts));
        asked.push_back(std::move(own));
    }
    if (asks) {
        sum_up(asked, devices);
        narrow(gang, selectors);
        if (devices.reason.empty() && devices.unfit_reason.empty())
            narrow(gang, device_condition(asked));
    } else if (!gang.job->nodes.empty()) {
        plan_for_seats(entry, needs, devices);
    }
}

// Returns the only Slurm node of the job where these claims can be used, or ""
// if there is no restriction.
std::string Bridge::place_of_claims(const Job &job,
                                    const DeviceNeeds &needs) const
{
    for (const ResourceClaimPtr &claim : needs.claims) {
        if (!claim->allocated || !claim->places)
            continue;
        for (const std::string &name : job.nodes) {
            const Node *node = nodes_.behind(name);
            if (node && matches(*claim->places, *node))
                return name;
        }
    }
    return {};
}

// Plans node by node, for the Pods that are placed there.
void Bridge::plan_for_seats(GangEntry &entry,
                            const std::map<std::string, DeviceNeeds> &needs,
                            GangDevices &devices)
{
    Gang &gang = entry.gang;
    const Job &job = *gang.job;
    bool cpus = std::ranges::any_of(
        needs, [](const auto &pod) { return wants_cpus(pod.second); });
    bool unlisted = cpus || !job.tag.script.empty(); // as for a single Pod
    devices.unread = has_unread_gres(job) || (unlisted && !job.gres_read);
    if (devices.unread)
        return;
    for (const auto &[pod, own] : needs)
        if (std::string at = place_of_claims(job, own); !at.empty())
            gang.devices_at[pod] = at;
    auto seats = seat_pods(gang, nodes_.slurm_nodes());
    if (!seats)
        return; // decide() finds that, too
    if (entry.claims_refused_job == job.ref && count_of_job(gang) == 0) {
        devices.plan = {.misfit = entry.claims_refused_reason,
                        .bad_node = true};
        devices.node = entry.claims_refused_node;
        return;
    }
    bool later = false;
    std::map<std::string, NodeSeats> by_node; // by Slurm's name
    for (const Seat &seat : *seats) {
        const DeviceNeeds &own = needs.at(seat.pod);
        std::string by_plugin = unfit_node_reason(own, seat.node);
        ClaimsPlan none = trouble_with(gang, own, by_plugin);
        if (can_give_way(gang) &&
            !used_by_others_reason(gang, *find_pod(gang, seat.pod), own)
                 .empty())
            none = {.misfit = own.reason};
        if (is_trouble(none)) {
            later |= set_aside(devices, none, {seat.node, {seat.pod}, {}});
            continue;
        }
        NodeSeats &there = by_node[seat.slurm_node];
        there.node = seat.node;
        there.pods.push_back(seat.pod);
        add_needs(there.needs, own);
    }
    for (std::size_t i = 0; i < job.nodes.size(); i++) {
        const NodeSeats &here = by_node[job.nodes[i]];
        if (here.needs.claims.empty() && here.needs.plugins.empty())
            continue;
        ClaimsPlan plan = plan_for_node(job, i, here.needs, true);
        if (is_trouble(plan))
            later |= set_aside(devices, plan, here);
        else
            std::ranges::move(plan.claims,
                              std::back_inserter(devices.plan.claims));
    }
    if (later)
        await_devices(entry, devices);
    else if (devices.not_now.empty())
        entry.devices_missed_since.reset();
}

} // namespace bridge
