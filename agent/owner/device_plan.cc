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

// Whoever has lost plans in so many turns makes all of them in one.
constexpr unsigned most_lost_turns = 3;

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

// Where answers are missing, the other nodes are planned for before it is
// looked at again.
std::shared_ptr<const ClaimsPlan> DevicePlan::for_node(GangEntry &entry,
                                                       std::size_t node,
                                                       const DeviceNeeds &needs,
                                                       Run &run)
{
    const Gang &gang = entry.gang;
    const Job &job = *gang.job;
    std::vector<DevicePtr> devices;
    ClaimsPlan trouble = trouble_on(job, node, needs, devices);
    if (is_trouble(trouble))
        return std::make_shared<const ClaimsPlan>(std::move(trouble));
    NodePlans &plans = entry.node_plans;
    if (plans.job != job.ref)
        plans = {.job = job.ref};
    auto catalog = devices_.catalog();
    const auto pools = pools_on(*nodes_.behind(job.nodes[node]));
    KeptPlan &kept = plans.by_node[job.nodes[node]];
    KeptPlan now{.key = plan_key(needs, job, node),
                 .changes = changes_of(pools, devices_.claims()),
                 .catalog = catalog};
    bool holds = kept.key == now.key && kept.changes == now.changes &&
                 kept.catalog.lock() == catalog;
    if (holds && kept.plan)
        return kept.plan;
    if (holds && answers_.misses_any(gang)) {
        run.missing = true;
        return nullptr;
    }
    // Not what the Pods' owner may change.
    run.lost |= kept.plan && kept.key == now.key;
    kept = {};
    if (run.cost >= cel_limits::of_plan && plans.lost_turns < most_lost_turns) {
        run.goes_on = true;
        return nullptr;
    }
    Run own{.may_exceed = run.may_exceed};
    ClaimsPlan made =
        with_given(gang, node, needs, std::move(devices), pools, own);
    run.cost += own.cost;
    run.missing |= own.missing;
    if (!own.missing)
        now.plan = std::make_shared<const ClaimsPlan>(std::move(made));
    kept = std::move(now);
    return kept.plan;
}

// What stands against a plan is looked at anew after each run: it may be over
// by the time alone.
void DevicePlan::end(GangEntry &entry, const Run &run)
{
    NodePlans &plans = entry.node_plans;
    if (run.goes_on) {
        plans.lost_turns += run.lost;
        agenda_.wake(entry.gang.uid);
        return;
    }
    if (!run.missing)
        plans.lost_turns = 0;
    std::erase_if(plans.by_node, [](const auto &one) {
        return one.second.plan && is_trouble(*one.second.plan);
    });
}

// given: gets the devices of the job there that serve claims.
ClaimsPlan DevicePlan::trouble_on(const Job &job, std::size_t node,
                                  const DeviceNeeds &needs,
                                  std::vector<DevicePtr> &given)
{
    if (!nodes_.behind(job.nodes[node]))
        return {.wait = "its Node is not known"};
    ClaimsPlan plan;
    auto devices = given_on(job, node);
    if (devices) {
        given = std::move(*devices);
        plan.misfit = too_few_plugin_devices_reason(*devices_.catalog(), job,
                                                    node, needs);
    } else {
        bool later = devices.error().code == Code::busy;
        (later ? plan.wait : plan.misfit) = devices.error().message;
    }
    plan.bad_node = is_trouble(plan);
    return plan;
}

// The Node behind the job's node is known.
ClaimsPlan DevicePlan::with_given(const Gang &gang, std::size_t node,
                                  const DeviceNeeds &needs,
                                  std::vector<DevicePtr> given,
                                  const std::vector<DevicePool> &pools,
                                  Run &run)
{
    const Job &job = *gang.job;
    auto known = devices_.catalog();
    const ClaimStore &claims = devices_.claims();
    const Node &there = *nodes_.behind(job.nodes[node]);
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
    run.cost += plan.cost;
    run.missing = results.any_missing();
    if (run.missing)
        ask_results(gang, needs, pools, run);
    return plan;
}

// For all devices there: the plan has stopped at the first that is not known.
void DevicePlan::ask_results(const Gang &gang, const DeviceNeeds &needs,
                             const std::vector<DevicePool> &pools, Run &run)
{
    std::set<DevicePtr> devices;
    for (const DevicePool &pool : pools)
        devices.insert(pool.devices.begin(), pool.devices.end());
    run.cost += answers_.ask_results(gang, needs.wanted,
                                     devices_.catalog()->classes, devices);
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
Result<std::vector<DevicePtr>> DevicePlan::given_on(const Job &job,
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
