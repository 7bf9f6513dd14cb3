// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims: which devices of a job they get, and where else a job is asked
// for when these will not do.
#include "agent/bridge.h"

#include "agent/gres_counts.h"
#include "agent/words.h"
#include "common/log.h"

#include <algorithm>
#include <format>
#include <map>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds device_pause{1}; // until a device is free
// As long as it takes to give back a claim whose Pod has ended.
constexpr std::chrono::seconds device_patience{10};
constexpr std::chrono::minutes exclusion{2}; // what a node has may change

// Of several Pods with one claim the job of one has its devices.
std::vector<DeviceId> share_of(const Pod &pod, const ResourceClaim &claim)
{
    bool first = !claim.reserved_for.empty() &&
                 claim.reserved_for.front().uid == pod.uid;
    return first ? claim.devices : std::vector<DeviceId>{};
}

} // namespace

// Of a Pod whose job is lost: the same devices, as many as they are.
std::string Bridge::gres_of_living(const Pod &pod,
                                   const DeviceNeeds &needs)
{
    auto catalog = devices_.catalog();
    const auto &indexes = catalog->nodes;
    auto node = indexes.find(slurm_node_of(pod.node_name));
    std::map<std::pair<std::string, std::string>, int> sums;
    for (const ResourceClaimPtr &claim : needs.claims)
        for (const DeviceId &device : share_of(pod, *claim))
            if (auto where = node == indexes.end() ? std::nullopt
                                                   : node->second.find(device))
                sums[{where->gres, node->second.at(*where)->type}]++;
    std::string text;
    for (const auto &[kind, count] : sums)
        text += std::format("{}gres/{}:{}:{}", text.empty() ? "" : ",",
                            kind.first, kind.second, count);
    return text;
}

void Bridge::plan_for_job(GangEntry &entry, const DeviceNeeds &needs,
                          GangDevices &devices)
{
    const Job &job = *entry.gang.job;
    devices.unread = has_unread_gres(job);
    if (devices.unread)
        return;
    if (auto node = node_map_.find(job.nodes.front()); node != node_map_.end())
        devices.node = node->second;
    if (entry.claims_refused_of == job.ref) {
        devices.plan.misfit = entry.claims_refused;
        devices.plan.bad_node = true;
        return;
    }
    if (!devices.why.empty() || !devices.objection.empty()) {
        await_devices(entry, devices);
        return;
    }
    if (std::string why = why_by_plugin(lead_of(entry.gang), devices.node);
        !why.empty()) {
        devices.plan.misfit = why;
        devices.plan.bad_node = true;
        return;
    }
    devices.plan = plan_for_node(
        job, 0, needs, !job.gres_per_node.empty() || job.exclusive);
    if (!devices.plan.wait.empty())
        await_devices(entry, devices);
    else if (devices.plan.misfit.empty())
        entry.devices_missed_since.reset();
}

// For the Pods of these needs, which all go to the node of that place in
// job.nodes.
ClaimsPlan Bridge::plan_for_node(const Job &job, std::size_t node,
                                 const DeviceNeeds &needs, bool may_exceed)
{
    ClaimsPlan plan;
    auto name = node_map_.find(job.nodes[node]);
    const Node *there =
        name == node_map_.end() ? nullptr : find_node(name->second);
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
    return plan_claims(
        {.needs = needs,
         .given = std::move(*given),
         .may_exceed = may_exceed,
         .classes = known->classes,
         .pools = known->pools,
         .node = *there,
         .holder_of = [this](const DeviceId &device, const std::string &uid) {
             return claims_.holder_of(device, uid, now_);
         },
         .taken_in = [this](const DevicePool &pool) {
             return claims_.taken_in(pool.driver, pool.name, now_);
         }});
}

// No allocation waits for claims for ever. But those that run are not given up for
// the sake of one that comes late.
void Bridge::note_claim_delay(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.grouped || gang.job->state == JobState::configuring)
        note_bind_delay(entry);
}

// A device that was another Pod's is free a moment later; one that stays taken
// is not Slurm's to give.
void Bridge::await_devices(GangEntry &entry, GangDevices &devices)
{
    wake_at(entry, now_ + device_pause);
    note_claim_delay(entry);
    if (!entry.devices_missed_since)
        entry.devices_missed_since = now_;
    if (now_ - *entry.devices_missed_since >= device_patience &&
        devices.plan.misfit.empty())
        devices.plan.misfit = devices.plan.wait;
}

// Code::conflict when an index stands for no device, Code::busy while that is not
// known.
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
    if (index == catalog.nodes.end() && !job.gres_on[node].empty())
        return fail(Code::busy, "which devices its GRES are is not known yet");
    if (index == catalog.nodes.end())
        return made;
    for (const JobGres &gres : job.gres_on[node]) {
        if (!index->second.slots().contains(gres.gres))
            continue; // none of ours
        for (std::uint32_t i : gres.indexes) {
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
        return node.second <= now_;
    });
    if (entry.excluded.empty())
        return {};
    NodeRequirement none_of{"metadata.name", true, NodeOperator::not_in, {}};
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[name, until] : entry.excluded) {
        none_of.values.push_back(name);
        next = std::min(next, until);
    }
    wake_at(entry, next);
    return {NodeSelector{NodeTerm{std::move(none_of)}}};
}

// Of a job that is given up for its devices.
void Bridge::exclude_node(GangEntry &entry)
{
    const Gang &gang = entry.gang;
    if (!gang.devices || !gang.devices->plan.bad_node)
        return;
    const ClaimsPlan &plan = gang.devices->plan;
    const std::string &why = plan.misfit.empty() ? plan.wait : plan.misfit;
    if (why.empty() || gang.devices->node.empty())
        return;
    entry.excluded[gang.devices->node] = now_ + exclusion;
    entry.excluded_for = why;
}

void Bridge::note_claims_refused(GangEntry &entry,
                                 const ClaimsRefused &refused)
{
    log_warning("a claim was not taken", {{"Gang", entry.gang.key.str()},
                                          {"err", refused.why}});
    if (!entry.gang.job)
        return;
    entry.claims_refused = refused.why;
    entry.claims_refused_on = refused.node;
    entry.claims_refused_of = entry.gang.job->ref;
    // Of several some may have been written before the one that was refused, and
    // one that is told on its Pod before that: the watch says so.
    if (entry.gang.devices && entry.gang.devices->plan.claims.size() == 1)
        if (const ClaimPlan &one = entry.gang.devices->plan.claims.front();
            one.mappings.empty())
            claims_.release_hold(one.uid);
    tell(entry, not_bound_words(entry.gang.job->ref, refused.why));
}

// Taken from now on: another Pod's plan may be made before the watch tells.
void Bridge::hold_devices(const Bind &bind)
{
    for (const ClaimPlan &plan : bind.claims)
        if (!plan.allocated)
            claims_.hold(plan.key, plan.uid, plan.devices(), now_);
}

} // namespace bridge
