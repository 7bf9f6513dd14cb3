// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/device_plan.h"

#include "agent/gres/claim_cpus.h"
#include "agent/gres/claim_sharing.h"
#include "common/slurm/gres_counts.h"
#include "common/slurm/gres_sums.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

namespace bridge {

namespace {

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

// Returns how much the job has there of what is counted without indexes.
GresCounts amounts_on(const DeviceCatalog &catalog, const Job &job,
                      std::size_t node)
{
    GresCounts amounts;
    if (auto counted = catalog.amounts.find(job.nodes[node]);
        counted != catalog.amounts.end())
        for (const auto &[gres, all] : counted->second)
            amounts[gres] = count_of(job, node, gres);
    return amounts;
}

// Returns the amounts that Slurm counts for a device of the claim.
GresCounts amounts_of(const DeviceCatalog &catalog, const ResourceClaim &claim,
                      const DeviceId &id)
{
    DevicePtr device = find_device(catalog.pools, id);
    if (!device)
        return {};
    auto consumed = claim.consumed.find(id);
    return consumed == claim.consumed.end()
               ? amounts_of_partition(*device, catalog.counted)
               : amounts_of_share(*device, consumed->second, catalog.counted);
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

// What Slurm counts on a node. It refuses jobs that ask for more.
class CountedThere {
  public:
    CountedThere(const DeviceCatalog &catalog, const std::string &slurm_node)
        : index_(find(catalog.nodes, slurm_node)),
          counts_(find(catalog.index_counts, slurm_node)),
          amounts_(find(catalog.amounts, slurm_node))
    {
    }

    // The GRES and the type of a device; nothing: Slurm does not count it.
    std::optional<std::pair<std::string, std::string>>
    kind_of(const DeviceId &device) const
    {
        auto where = index_ ? index_->find(device) : std::nullopt;
        if (!where || where->index >= most_of(where->gres))
            return std::nullopt;
        return std::pair(where->gres, index_->at(*where)->type);
    }
    // How many devices of a plugin.
    std::int64_t count_of(const PluginWish &wish) const
    {
        if (!index_ || !is_counted(*index_, wish))
            return 0;
        auto most = most_of(wish.type.empty() ? wish.gres
                                              : wish.gres + ":" + wish.type);
        return std::min(wish.count, static_cast<std::int64_t>(most));
    }
    bool has_amounts() const { return amounts_ != nullptr; }
    std::uint64_t amount_of(const std::string &gres) const
    {
        return value_in(amounts_, gres);
    }

  private:
    template <class Value>
    static const Value *find(const std::map<std::string, Value> &all,
                             const std::string &name)
    {
        auto found = all.find(name);
        return found == all.end() ? nullptr : &found->second;
    }
    static std::uint64_t value_in(const GresCounts *counts,
                                  const std::string &gres)
    {
        const std::uint64_t *value = counts ? find(*counts, gres) : nullptr;
        return value ? *value : 0;
    }
    std::uint64_t most_of(const std::string &kind) const
    {
        return value_in(counts_, kind);
    }

    const DeviceIndex *index_;
    const GresCounts *counts_;
    const GresCounts *amounts_;
};

} // namespace

std::string DevicePlan::gres_of_living(const Pod &pod, const DeviceNeeds &needs)
{
    auto catalog = devices_.catalog();
    const CountedThere there(*catalog, nodes_.slurm_name_of(pod.node_name));
    GresSums sums;
    GresCounts amounts;
    for (const ResourceClaimPtr &claim : needs.claims) {
        std::set<DeviceId> seen; // a claim may have several shares of one
        for (const DeviceId &device : share_of(pod, *claim)) {
            if (auto kind = there.kind_of(device))
                sums[*kind]++;
            if (there.has_amounts() && seen.insert(device).second)
                add_amounts(amounts, amounts_of(*catalog, *claim, device));
        }
    }
    for (const PluginWish &one : needs.plugins)
        if (auto count = there.count_of(one); count != 0)
            sums[{one.gres, one.type}] += count;
    std::string text = text_of(sums);
    for (const auto &[gres, amount] : amounts)
        if (std::uint64_t most = there.amount_of(gres); most != 0)
            text += std::format("{}gres/{}:{}", text.empty() ? "" : ",", gres,
                                std::min(amount, most));
    return text;
}

ClaimsPlan DevicePlan::for_node(const Gang &gang, std::size_t node,
                                const DeviceNeeds &needs, Run &run)
{
    const Job &job = *gang.job;
    if (!nodes_.behind(job.nodes[node]))
        return {.wait = "its Node is not known"};
    ClaimsPlan plan;
    auto devices = given(job, node);
    if (!devices) {
        bool later = devices.error().code == Code::busy;
        (later ? plan.wait : plan.misfit) = devices.error().message;
        plan.bad_node = true;
        return plan;
    }
    plan.misfit =
        too_few_plugin_devices_reason(*devices_.catalog(), job, node, needs);
    plan.bad_node = !plan.misfit.empty();
    return plan.bad_node
               ? plan
               : with_given(gang, node, needs, std::move(*devices), run);
}

// The Node behind the job's node is known.
ClaimsPlan DevicePlan::with_given(const Gang &gang, std::size_t node,
                                  const DeviceNeeds &needs,
                                  std::vector<DevicePtr> given, Run &run)
{
    const Job &job = *gang.job;
    auto known = devices_.catalog();
    const ClaimStore &claims = devices_.claims();
    const Node &there = *nodes_.behind(job.nodes[node]);
    const std::vector<DevicePool> pools = pools_on(there);
    PlanResults results;
    run.cost += answers_.add_results(needs.wanted, known->classes, results);
    ClaimsPlan plan = plan_claims(
        {.needs = needs,
         .given = std::move(given),
         .cpus = wants_cpus(needs) ? cpus_for(*known, job, node, needs)
                                   : CpuOffer{},
         .may_exceed = run.may_exceed,
         .classes = known->classes,
         .pools = pools,
         .node = there,
         .holder_of =
             [&](const DeviceId &device, const std::string &uid) {
                 return claims.holder_of(device, uid, context_.now);
             },
         .taken_in =
             [&](const DevicePool &pool) {
                 return claims.taken_in(pool.driver, pool.name, context_.now);
             },
         .counted = known->counted,
         .amounts = amounts_on(*known, job, node),
         .consumed_of =
             [&](const DeviceId &device, const std::set<std::string> &but_for) {
                 return claims.consumed_of(device, but_for, context_.now);
             },
         .results = &results});
    note_results(gang, needs, pools, results, plan, run);
    return plan;
}

// That a device as it was before does not fit is no reason to give a job up,
// nor to have waited; and whoever plans for one that did fit finds out when the
// claim is written.
void DevicePlan::note_results(const Gang &gang, const DeviceNeeds &needs,
                              const std::vector<DevicePool> &pools,
                              const PlanResults &results,
                              const ClaimsPlan &plan, Run &run)
{
    run.cost += plan.cost;
    if (!results.any_missing() && !results.any_outdated())
        return;
    std::set<DevicePtr> devices;
    for (const DevicePool &pool : pools)
        for (const DevicePtr &device : pool.devices)
            if (results.is_asked_for(*device))
                devices.insert(device);
    run.cost += answers_.ask_results(gang, needs.wanted,
                                     devices_.catalog()->classes, devices);
    run.unanswered |=
        results.any_missing() || !plan.misfit.empty() || !plan.wait.empty();
}

std::vector<DevicePool> DevicePlan::pools_on(const Node &node)
{
    auto catalog = devices_.catalog();
    if (pools_.catalog() != catalog.get())
        pools_ = NodePools(std::move(catalog));
    return pools_.all_on(node);
}

// Returns what the job's claims may take of the CPU devices there; nothing for
// a node on which Slurm's CPU numbers mean other CPUs.
CpuOffer DevicePlan::cpus_for(const DeviceCatalog &catalog, const Job &job,
                              std::size_t node, const DeviceNeeds &needs) const
{
    auto cpus = catalog.cpus.find(nodes_.behind(job.nodes[node])->name);
    if (cpus == catalog.cpus.end())
        return {};
    std::vector<std::uint32_t> ids;
    if (node < job.cpu_ids_on.size())
        ids = job.cpu_ids_on[node];
    return offer_cpus(cpus->second, ids, [&](const DeviceId &device) {
        return std::ranges::all_of(
            needs.claims, [&](const ResourceClaimPtr &claim) {
                return devices_.claims()
                    .holder_of(device, claim->uid, context_.now)
                    .has_value();
            });
    });
}

// Code::conflict when an index stands for no device, Code::busy while that is
// not known.
Result<std::vector<DevicePtr>> DevicePlan::given(const Job &job,
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

std::string DevicePlan::place_of(const Job &job, const DeviceNeeds &needs) const
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

} // namespace bridge
