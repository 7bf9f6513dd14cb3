// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims: which devices of a job they get, and what happens when these
// do not fit.
#include "agent/owner/bridge.h"

#include "agent/decide/messages.h"
#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"
#include "common/slurm/gres_counts.h"
#include "common/slurm/gres_sums.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

namespace bridge {

namespace {

// The time to give back a claim whose Pod has ended.
constexpr std::chrono::seconds device_patience{10};
constexpr std::chrono::minutes exclusion{2}; // a node's devices may change

// If several Pods share a claim, the job of one has its devices.
std::vector<DeviceId> share_of(const Pod &pod, const ResourceClaim &claim)
{
    return is_first_consumer(pod, claim) ? claim.devices
                                         : std::vector<DeviceId>{};
}

// node is an index of job.nodes.
std::uint64_t count_of(const Job &job, std::size_t node,
                       const std::string &gres)
{
    std::uint64_t count = 0;
    if (node < job.gres_on.size())
        for (const JobGres &one : job.gres_on[node])
            if (one.gres == gres)
                count += one.count;
    return count;
}

// Returns the amounts that Slurm counts for a device of the claim.
GresCounts amounts_of(const DeviceCatalog &catalog, const ResourceClaim &claim,
                      const DeviceId &id)
{
    auto consumed = claim.consumed.find(id);
    for (const DevicePool &pool : catalog.pools) {
        if (pool.driver != id.driver || pool.name != id.pool)
            continue;
        for (const DevicePtr &device : pool.devices)
            if (device->name == id.device)
                return consumed == claim.consumed.end()
                           ? amounts_of_partition(*device, catalog.counted)
                           : amounts_of_share(*device, consumed->second,
                                              catalog.counted);
    }
    return {};
}

// node is an index of job.nodes. The indexes there are known if the job has
// GRES on the node.
std::string too_few_plugin_devices_reason(const DeviceCatalog &catalog,
                                          const Job &job, std::size_t node,
                                          const DeviceNeeds &needs)
{
    auto index = catalog.nodes.find(job.nodes[node]);
    static const DeviceIndex none;
    static const std::vector<JobGres> nothing;
    return too_few_devices_reason(
        index == catalog.nodes.end() ? none : index->second,
        node < job.gres_on.size() ? job.gres_on[node] : nothing, needs.plugins);
}

} // namespace

// Returns the GRES for the new job of a Pod whose job is lost: the same
// devices, in the same number.
std::string Bridge::gres_of_living(const Pod &pod, const DeviceNeeds &needs)
{
    auto catalog = devices_.catalog();
    const auto &indexes = catalog->nodes;
    auto node = indexes.find(nodes_.slurm_name_of(pod.node_name));
    auto has = catalog->amounts.find(nodes_.slurm_name_of(pod.node_name));
    GresSums sums;
    GresCounts amounts;
    for (const ResourceClaimPtr &claim : needs.claims) {
        std::set<DeviceId> seen; // a claim may have several shares of one
        for (const DeviceId &device : share_of(pod, *claim)) {
            if (auto where = node == indexes.end() ? std::nullopt
                                                   : node->second.find(device))
                sums[{where->gres, node->second.at(*where)->type}]++;
            if (has != catalog->amounts.end() && seen.insert(device).second)
                add_amounts(amounts, amounts_of(*catalog, *claim, device));
        }
    }
    for (const PluginWish &one : needs.plugins)
        if (node != indexes.end() && is_counted(node->second, one))
            sums[{one.gres, one.type}] += one.count;
    std::string text = text_of(sums);
    for (const auto &[gres, amount] : amounts)
        if (has->second.contains(gres)) // Slurm refuses GRES that no node has
            text += std::format("{}gres/{}:{}", text.empty() ? "" : ",", gres,
                                amount);
    return text;
}

void Bridge::plan_for_job(GangEntry &entry, const DeviceNeeds &needs,
                          GangDevices &devices)
{
    const Job &job = *entry.gang.job;
    // A list of jobs does not show GRES that accounting does not track, nor
    // those that --gpus of sbatch requested.
    bool unlisted = wants_cpus(needs) || !job.tag.script.empty();
    devices.unread = has_unread_gres(job) || (unlisted && !job.gres_read);
    if (devices.unread)
        return;
    const NodeMap &slurms = nodes_.slurm_nodes();
    if (auto node = slurms.find(job.nodes.front()); node != slurms.end())
        devices.node = node->second;
    if (entry.claims_refused_job == job.ref) {
        devices.plan.misfit = entry.claims_refused_reason;
        devices.plan.bad_node = true;
        return;
    }
    const Gang &gang = entry.gang;
    if (!gang.batch && // whose job is not requested again
        !used_by_others_reason(gang, lead_of(gang), needs).empty()) {
        devices.plan.misfit = devices.reason;
        return;
    }
    if (!devices.reason.empty() || !devices.unfit_reason.empty()) {
        await_devices(entry, devices);
        return;
    }
    if (std::string reason = unfit_node_reason(needs, devices.node);
        !reason.empty()) {
        devices.plan.misfit = reason;
        devices.plan.bad_node = true;
        return;
    }
    devices.plan = plan_for_node(job, 0, needs,
                                 !job.gres_per_node.empty() || job.exclusive);
    if (!devices.plan.wait.empty())
        await_devices(entry, devices);
    else if (devices.plan.misfit.empty())
        entry.devices_missed_since.reset();
}

// Plans for all Pods with these needs, which go to job.nodes[node].
ClaimsPlan Bridge::plan_for_node(const Job &job, std::size_t node,
                                 const DeviceNeeds &needs, bool may_exceed)
{
    ClaimsPlan plan;
    const Node *there = nodes_.behind(job.nodes[node]);
    if (!there) {
        plan.wait = "its Node is not known";
        return plan;
    }
    auto given = given_devices(job, node);
    if (!given) {
        bool later = given.error().code == Code::busy;
        (later ? plan.wait : plan.misfit) = given.error().message;
        plan.bad_node = true;
        return plan;
    }
    auto known = devices_.catalog();
    if (std::string few =
            too_few_plugin_devices_reason(*known, job, node, needs);
        !few.empty()) {
        plan.misfit = few;
        plan.bad_node = true;
        return plan;
    }
    GresCounts amounts;
    if (auto counted = known->amounts.find(job.nodes[node]);
        counted != known->amounts.end())
        for (const auto &[gres, all] : counted->second)
            amounts[gres] = count_of(job, node, gres);
    CpuOffer cpus;
    if (wants_cpus(needs))
        cpus = cpus_for(*known, job, node, *there, needs);
    return plan_claims(
        {.needs = needs,
         .given = std::move(*given),
         .cpus = std::move(cpus),
         .may_exceed = may_exceed,
         .classes = known->classes,
         .pools = known->pools,
         .node = *there,
         .holder_of =
             [this](const DeviceId &device, const std::string &uid) {
                 return claims_.holder_of(device, uid, context_.now);
             },
         .taken_in =
             [this](const DevicePool &pool) {
                 return claims_.taken_in(pool.driver, pool.name, context_.now);
             },
         .counted = known->counted,
         .amounts = std::move(amounts),
         .consumed_of =
             [this](const DeviceId &device,
                    const std::set<std::string> &but_for) {
                 return claims_.consumed_of(device, but_for, context_.now);
             }});
}

// Returns what the job's claims may take of the CPU devices there; nothing for
// a node on which Slurm's CPU numbers mean other CPUs.
CpuOffer Bridge::cpus_for(const DeviceCatalog &catalog, const Job &job,
                          std::size_t node, const Node &there,
                          const DeviceNeeds &needs) const
{
    auto cpus = catalog.cpus.find(there.name);
    if (cpus == catalog.cpus.end())
        return {};
    std::vector<std::uint32_t> ids;
    if (node < job.cpu_ids_on.size())
        ids = job.cpu_ids_on[node];
    return offer_cpus(cpus->second, ids, [&](const DeviceId &device) {
        return std::ranges::all_of(
            needs.claims, [&](const ResourceClaimPtr &claim) {
                return claims_.holder_of(device, claim->uid, context_.now)
                    .has_value();
            });
    });
}

// No allocation waits for claims for ever, but Pods that run are not given up
// for one that comes late.
void Bridge::record_claim_delay(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.grouped || gang.job->state == JobState::configuring)
        record_bind_delay(entry);
}

// A device that another Pod had is free a moment later; if it stays taken,
// Slurm cannot give it out. When the new job of a living Pod waits for its
// node, all gangs that wait there for devices leave at once, like those that
// wait for room.
void Bridge::await_devices(GangEntry &entry, GangDevices &devices)
{
    agenda_.wake_at(entry, context_.now + device_pause);
    record_claim_delay(entry);
    if (!entry.devices_missed_since)
        entry.devices_missed_since = context_.now;
    auto adoption = room_.adoption_due(devices.node);
    bool overdue =
        context_.now - *entry.devices_missed_since >= device_patience ||
        (adoption && *adoption <= context_.now);
    if (overdue && devices.plan.misfit.empty())
        devices.plan.misfit = devices.plan.wait;
}

// Code::conflict when an index stands for no device, Code::busy while that is
// not known.
Result<std::vector<DevicePtr>> Bridge::given_devices(const Job &job,
                                                     std::size_t node)
{
    auto known = devices_.catalog();
    const DeviceCatalog &catalog = *known;
    std::vector<DevicePtr> made;
    if (node >= job.gres_on.size())
        return made;
    const std::string &name = job.nodes[node];
    auto index = catalog.nodes.find(name);
    bool any = std::ranges::any_of(job.gres_on[node], [&](const JobGres &one) {
        return !std::ranges::contains(catalog.counted, one.gres,
                                      &CapacityGres::gres);
    });
    if (index == catalog.nodes.end() && any)
        return fail(Code::busy, "the devices of its GRES are not known yet");
    if (index == catalog.nodes.end())
        return made;
    for (const JobGres &gres : job.gres_on[node]) {
        if (!index->second.slots().contains(gres.gres))
            continue; // not counted for Pods
        for (std::uint32_t i : gres.indexes) {
            const DeviceSlot *slot = index->second.at({gres.gres, i});
            if (slot && is_of_plugin(slot->id))
                continue; // any of them will do: see too_few_devices_reason()
            auto device = device_at(catalog, name, {gres.gres, i});
            if (!device)
                return fail(Code::conflict,
                            std::format("index {} of its GRES {} stands for no "
                                        "device now",
                                        i, gres.gres));
            made.push_back(std::move(device));
        }
    }
    return made;
}

std::vector<NodeSelector> Bridge::but_for_excluded(GangEntry &entry)
{
    std::erase_if(entry.excluded, [&](const auto &node) {
        return node.second <= context_.now;
    });
    if (entry.excluded.empty())
        return {};
    NodeRequirement none_of{"metadata.name", true, NodeOperator::not_in, {}};
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[name, until] : entry.excluded) {
        none_of.values.push_back(name);
        next = std::min(next, until);
    }
    agenda_.wake_at(entry, next);
    return {NodeSelector{NodeTerm{std::move(none_of)}}};
}

// Excludes the node of a job that is given up because of its devices.
void Bridge::exclude_node(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.devices || !gang.devices->plan.bad_node)
        return;
    const ClaimsPlan &plan = gang.devices->plan;
    const std::string &reason = plan.misfit.empty() ? plan.wait : plan.misfit;
    if (reason.empty() || gang.devices->node.empty())
        return;
    entry.excluded[gang.devices->node] = context_.now + exclusion;
    entry.excluded_reason = reason;
}

void Bridge::record_claims_refused(GangEntry &entry,
                                   const ClaimsRefused &refused)
{
    log_warning("a ResourceClaim was refused",
                {{"Gang", entry.gang.key.str()}, {"err", refused.reason}});
    if (!entry.gang.job)
        return;
    entry.claims_refused_reason = refused.reason;
    entry.claims_refused_node = refused.node;
    entry.claims_refused_job = entry.gang.job->ref;
    // If there are several claims, some may have been written before the
    // refused one; so may one whose write is noted on its Pod first. The watch
    // will show them.
    if (entry.gang.devices && entry.gang.devices->plan.claims.size() == 1)
        if (const ClaimPlan &one = entry.gang.devices->plan.claims.front();
            one.mappings.empty())
            claims_.release_hold(one.uid);
    voice_.say(entry, not_bound_message(entry.gang.job->ref, refused.reason));
}

// The devices count as taken from now on: another Pod's plan may be made before
// the watch shows the claims.
void Bridge::reserve_devices(const std::string &gang, const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        if (!plan.allocated)
            claims_.hold(plan.key, plan.uid, gang, plan.devices(), context_.now,
                         plan.shares);
}

void Bridge::end_writes(const std::string &gang, const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        claims_.end_write(plan.key, gang, context_.now);
}

} // namespace bridge
