// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/sync.h"

#include "agent/nodes/address.h"
#include "agent/nodes/carry.h"
#include "agent/nodes/creation.h"
#include "agent/nodes/features.h"
#include "agent/nodes/gres.h"
#include "agent/nodes/removal.h"
#include "agent/nodes/shadow_plan.h"
#include "agent/nodes/sizes.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace bridge {

namespace {

// Limits how long slurmctld holds its locks.
constexpr std::size_t most_removed = 500;
constexpr unsigned most_tries = 3; // attempts to recreate a node with

// Compares all except what jobs use, which changes all the time and matters
// only while a node waits to become idle.
bool same_but_for_jobs(const SlurmNode &a, const SlurmNode &b)
{
    auto rest = [](const SlurmNode &n) {
        return std::tie(n.name, n.address, n.port, n.external, n.drained,
                        n.down, n.not_responding, n.cpus, n.memory,
                        n.usable_cpus, n.usable_memory, n.features,
                        n.active_features, n.reason, n.topology, n.extra,
                        n.gres);
    };
    return rest(a) == rest(b);
}

class Syncer {
  public:
    Syncer(Slurm &slurm, NodeSyncState &state, const Conf &conf,
           Clock::time_point now)
        : slurm_(slurm), state_(state), conf_(conf), now_(now)
    {
    }

    // Returns whether Slurm's side has changed since the last sync.
    Result<bool> load()
    {
        auto table = slurm_.load_nodes_since(state_.table.as_of);
        if (!table)
            return std::unexpected(table.error());
        bool changed =
            *table && !std::ranges::equal((*table)->nodes, state_.table.nodes,
                                          same_but_for_jobs);
        if (*table) {
            state_.table = std::move(**table);
            remember_reported();
        }
        auto reservations = slurm_.load_reservations();
        if (!reservations)
            return std::unexpected(reservations.error());
        bool moved = *reservations != state_.reservations;
        state_.reservations = std::move(*reservations);
        auto before = state_.shadows;
        if (now_ >= state_.shadows_due)
            if (auto loaded = load_uses(); !loaded)
                return std::unexpected(loaded.error());
        return moved || changed || before != state_.shadows;
    }

    // Whether other nodes have jobs than at the last time. It matters where
    // autoscalers remove Nodes.
    bool others_are_busy()
    {
        std::set<std::string> busy;
        for (const SlurmNode &node : state_.table.nodes)
            if (!is_idle(node, running_cpus(state_.shadows, node.name)))
                busy.insert(node.name);
        bool others = busy != state_.busy;
        state_.busy = std::move(busy);
        return others;
    }

    // Whether something that waited for its time, or for Slurm, may be done
    // now.
    bool has_work() const
    {
        return state_.rebuild_due || state_.leaving ||
               std::ranges::any_of(state_.shadows, &NodeUse::pending) ||
               (!state_.waiting.empty() &&
                std::ranges::any_of(
                    state_.table.nodes,
                    [this](const SlurmNode &node) { return is_due(node); }));
    }

    NodeSyncResult carry_out(NodePlan plan)
    {
        result_ = {false,
                   std::move(plan.nodes),
                   std::move(plan.hybrid),
                   std::move(plan.pinned),
                   {},
                   {},
                   std::move(plan.devices),
                   std::move(plan.patches),
                   std::move(plan.refused),
                   {},
                   std::move(plan.warnings),
                   plan.sync_again,
                   std::move(plan.amounts),
                   std::move(plan.cpu_nodes),
                   std::move(plan.index_counts)};
        result_.selected = std::move(plan.selected);
        placed_ = std::move(plan.placed);
        // A step that fails makes no node smaller.
        const auto planned = placed_;
        for (const SlurmNode &node : state_.table.nodes)
            sizes_.put(node);
        state_.leaving = plan.leaving;
        std::erase_if(plan.steps, [this](const NodeStep &step) {
            return asked_before(step);
        });
        state_.rebuild_due |= plan.partitions_changed;
        forget_reported();
        leave_outdated(plan.steps);
        carry(plan.steps);
        if (plan.shortages_known)
            carry_shadows(plan_shadows(plan.shortages, state_.shadows,
                                       free_rooms(plan.shortages)));
        give_up_devices(plan);
        remove_idle(plan);
        if (state_.rebuild_due)
            state_.rebuild_due = !try_to(slurm_.rebuild_partitions());
        for (const NodeUse &shadow : state_.shadows)
            result_.shadows.push_back(shadow.job);
        for (const auto &[node, features] : placed_)
            for (const std::string &feature : features)
                result_.placed[feature]++;
        result_.sizes = sizes_.by_feature(planned);
        state_.devices = result_.devices;
        return std::move(result_);
    }

  private:
    void remember_reported()
    {
        for (const SlurmNode &node : state_.table.nodes) {
            if (node.external)
                continue;
            if (auto features = kubelet_features_of(node); !features.empty())
                state_.reported[node.name] = std::move(features);
        }
    }

    // A node that no Node requests has no kubelet that would matter.
    void forget_reported()
    {
        std::erase_if(state_.reported, [this](const auto &one) {
            return !result_.hybrid.contains(one.first);
        });
    }

    // All jobs are listed rarely, because there may be many.
    Result<std::vector<NodeUse>> load_uses()
    {
        auto uses = slurm_.load_uses();
        if (!uses)
            return uses;
        state_.shadows.clear();
        for (const NodeUse &use : *uses)
            if (!use.shadow_of.empty())
                state_.shadows.push_back(use);
        bool pending = std::ranges::any_of(state_.shadows, &NodeUse::pending);
        state_.shadows_due =
            now_ + (pending ? conf_.node_interval : conf_.resync_interval);
        return uses;
    }

    std::map<std::string, NodeRoom>
    free_rooms(const std::map<std::string, NodeRoom> &of) const
    {
        std::map<std::string, NodeRoom> rooms;
        for (const SlurmNode &node : state_.table.nodes)
            if (of.contains(node.name))
                rooms[node.name] = free_room(node);
        return rooms;
    }

    void carry_shadows(const ShadowPlan &plan)
    {
        for (const NodeUse &shadow : plan.cancel)
            cancel_shadow(shadow);
        for (const auto &[node, room] : plan.submit)
            submit_shadow(node, room, ShadowTier::highest);
        for (const auto &[node, room] : plan.wait)
            submit_shadow(node, room, ShadowTier::lowest);
    }

    void submit_shadow(const std::string &node, const NodeRoom &room,
                       ShadowTier tier)
    {
        auto job = slurm_.submit_shadow(node, room, tier);
        // List jobs again soon: is this one pending, does it exist?
        state_.shadows_due = now_;
        if (try_to(job ? Result<>{} : std::unexpected(job.error())))
            state_.shadows.push_back({*job, true, {}, {}, node, room});
    }

    bool cancel_shadow(const NodeUse &shadow)
    {
        auto done = slurm_.cancel(shadow.job);
        if (!done && done.error().code != Code::not_found)
            return try_to(done);
        std::erase_if(state_.shadows, [&](const NodeUse &known) {
            return known.job == shadow.job;
        });
        return true;
    }

    // Gives up on nodes that were recreated several times in vain: Slurm may
    // refuse to count their GRES for reasons of its own, and must not lose and
    // regain the node again and again.
    void give_up_devices(NodePlan &plan)
    {
        std::erase_if(state_.device_tries, [&](const auto &tried) {
            return std::ranges::none_of(plan.misfits, [&](const Misfit &one) {
                return one.of_devices && one.wish.name == tried.first &&
                       one.wish.gres == tried.second.first;
            });
        });
        std::erase_if(plan.misfits, [&](const Misfit &one) {
            auto tried = state_.device_tries.find(one.wish.name);
            if (!one.of_devices || tried == state_.device_tries.end() ||
                tried->second.second < most_tries)
                return false;
            result_.warnings.push_back(
                "node " + one.wish.name + " was recreated with Gres=" +
                one.wish.gres + ", but Slurm reports other GRES for it");
            return true;
        });
    }

    bool is_due(const SlurmNode &node) const
    {
        auto since = state_.waiting.find(node.name);
        return since != state_.waiting.end() &&
               now_ - since->second >= conf_.resize_delay &&
               is_idle(node, running_cpus(state_.shadows, node.name));
    }

    // Returns nodes that have been misfits or unclaimed for long enough and are
    // idle.
    std::vector<std::string> due_for_removal(const NodePlan &plan)
    {
        std::set<std::string> wanted(plan.unclaimed.begin(),
                                     plan.unclaimed.end());
        for (const Misfit &misfit : plan.misfits) {
            wanted.insert(misfit.wish.name);
            if (misfit.at_once)
                state_.waiting[misfit.wish.name] = now_ - conf_.resize_delay;
        }
        std::erase_if(state_.waiting, [&](const auto &one) {
            return !wanted.contains(one.first);
        });
        for (const std::string &name : wanted)
            state_.waiting.try_emplace(name, now_);
        std::vector<std::string> due;
        for (const SlurmNode &node : state_.table.nodes)
            if (is_due(node))
                due.push_back(node.name);
        return due;
    }

    void remove_idle(const NodePlan &plan)
    {
        std::vector<std::string> due = due_for_removal(plan);
        if (due.empty())
            return;
        auto uses = load_uses();
        if (!uses) {
            (void)try_to(std::unexpected(uses.error()));
            return;
        }
        std::vector<std::string> go =
            removable(due, state_.table.nodes, *uses, state_.reservations);
        std::map<std::string, Misfit> anew;
        for (const Misfit &misfit : plan.misfits)
            anew[misfit.wish.name] = misfit;
        for (std::size_t i = 0; i < go.size(); i += most_removed)
            remove({go.begin() + static_cast<std::ptrdiff_t>(i),
                    go.begin() + static_cast<std::ptrdiff_t>(
                                     std::min(go.size(), i + most_removed))},
                   anew);
    }

    // A node that cannot be deleted because a job was faster stays; the next
    // sync creates what is missing. slurmctld deletes what it can of a list and
    // reports that some nodes are busy, without naming them.
    void remove(const std::vector<std::string> &names,
                const std::map<std::string, Misfit> &anew)
    {
        std::string list;
        for (const std::string &name : names) {
            for (const NodeUse &shadow : std::vector(state_.shadows))
                if (shadow.shadow_of == name)
                    (void)cancel_shadow(shadow);
            list += (list.empty() ? "" : ",") + name;
            state_.waiting.erase(name);
        }
        if (auto gone = slurm_.delete_node(list); !gone) {
            result_.retry = result_.retry_soon = true;
            for (const std::string &name : names)
                doubt(name);
            return;
        }
        std::vector<NodeStep> creates;
        for (const std::string &name : names)
            if (auto misfit = anew.find(name); misfit != anew.end())
                make_anew(misfit->second, creates);
        carry(creates);
    }

    // The new index applies only after the deletion: while the old node exists,
    // jobs mean its old indexes.
    void make_anew(const Misfit &misfit, std::vector<NodeStep> &steps)
    {
        const NodeDescription &wish = misfit.wish;
        add_creation(steps, wish);
        result_.devices.erase(wish.name);
        result_.index_counts[wish.name] = sums_in(wish.gres);
        if (auto index = DeviceIndex::parse(device_word(wish.extra));
            index && !index->slots().empty())
            result_.devices[wish.name] = std::move(*index);
        if (!misfit.of_devices)
            return;
        auto &[gres, tries] = state_.device_tries[wish.name];
        tries = gres == wish.gres ? tries + 1 : 1;
        gres = wish.gres;
    }

    // Whether this topology was requested before: Slurm may report it in
    // another form than requested.
    bool asked_before(const NodeStep &step)
    {
        const auto *topology = std::get_if<SetTopology>(&step);
        if (!topology)
            return false;
        std::string &asked = state_.topologies[topology->node];
        return std::exchange(asked, topology->topology) == topology->topology;
    }

    // Leaves a hybrid node whose features have changed since it was loaded to
    // the next sync. slurmctld replaces the whole list and compares nothing,
    // and slurmd reports its words only when it registers: what it reports
    // between the two calls would be lost until it starts again.
    void leave_outdated(std::vector<NodeStep> &steps)
    {
        std::map<std::string, const SlurmNode *> hybrid;
        for (const SlurmNode &node : state_.table.nodes)
            if (!node.external)
                hybrid[node.name] = &node;
        auto of_hybrid = [&](const NodeStep &step) {
            const auto *set = std::get_if<SetFeatures>(&step);
            return set && hybrid.contains(set->node);
        };
        if (std::ranges::none_of(steps, of_hybrid))
            return;
        auto fresh = slurm_.load_nodes();
        if (!try_to(fresh ? Result<>{} : std::unexpected(fresh.error())))
            fresh.emplace();
        std::set<std::string> as_planned;
        for (const SlurmNode &now : *fresh)
            if (auto then = hybrid.find(now.name);
                then != hybrid.end() &&
                now.features == then->second->features &&
                now.active_features == then->second->active_features)
                as_planned.insert(now.name);
        std::erase_if(steps, [&](const NodeStep &step) {
            if (!of_hybrid(step))
                return false;
            const std::string &node = std::get<SetFeatures>(step).node;
            if (as_planned.contains(node))
                return false;
            doubt(node);
            result_.retry = result_.retry_soon = true;
            return true;
        });
    }

    void carry(const std::vector<NodeStep> &steps)
    {
        for (const NodeStep &step : steps)
            if (const auto *created = std::get_if<CreateNode>(&step))
                sizes_.put(created->node);
        CarryOutcome outcome = carry_steps(steps, slurm_);
        state_.rebuild_due |= outcome.rebuild_due;
        result_.retry |= !outcome.failed.empty();
        std::ranges::move(outcome.warnings,
                          std::back_inserter(result_.warnings));
        for (const std::string &node : outcome.failed)
            doubt(node);
    }

    // The state of the node in Slurm is unknown, so nobody may rely on it.
    void doubt(const std::string &node)
    {
        result_.pinned.erase(node);
        result_.cpu_nodes.erase(node);
        placed_.erase(node);
        result_.devices.erase(node);
    }

    bool try_to(const Result<> &done)
    {
        if (done)
            return true;
        result_.warnings.push_back(done.error().message);
        result_.retry = true;
        return false;
    }

    Slurm &slurm_;
    NodeSyncState &state_;
    const Conf &conf_;
    Clock::time_point now_;
    NodeSyncResult result_;
    std::map<std::string, std::vector<std::string>> placed_; // by Slurm node
    SizeTable sizes_;
};

} // namespace

Result<NodeSyncResult> sync_nodes(NodeSyncRequest request, Slurm &slurm,
                                  const Conf &conf, NodeSyncState &state)
{
    auto address = parse_node_address(conf.node_address);
    if (!address)
        return std::unexpected(address.error());
    if (address->port == 0 || request.input.count_devices ||
        !request.input.pools.empty()) {
        auto cluster = slurm.load_cluster();
        if (!cluster)
            return std::unexpected(cluster.error());
        if (address->port == 0)
            address->port = cluster->controller_port;
        request.input.gres_types = {cluster->gres_types.begin(),
                                    cluster->gres_types.end()};
    }
    if (request.inventory)
        request.input.devices = request.inventory->get();
    request.input.address = address->ip;
    request.input.port = address->port;
    if (request.list_shadows)
        state.shadows_due = {};
    Syncer syncer(slurm, state, conf, request.now);
    auto moved = syncer.load();
    if (!moved)
        return std::unexpected(moved.error());
    bool wished = request.input.wishes != state.wishes;
    bool busy = !request.input.pools.empty() && syncer.others_are_busy();
    if (!request.changed && !*moved && !wished && !busy && !syncer.has_work()) {
        NodeSyncResult nothing;
        nothing.unchanged = true;
        return nothing;
    }
    state.wishes = request.input.wishes;
    request.input.shadows = state.shadows;
    request.input.devices_before = state.devices;
    request.input.reported = state.reported;
    if (request.input.catalog) {
        state.fits.turn_to(request.input.catalog);
        request.input.has_devices = [&state](const DeviceCondition &asked,
                                             const Node &node) {
            return state.fits.can_satisfy(asked, node);
        };
    }
    NodeSyncResult result = syncer.carry_out(
        plan_nodes(request.input, state.table.nodes, state.reservations));
    result.asked = std::move(request.input.wishes.predicates);
    result.inventory = std::move(request.input.devices);
    return result;
}

} // namespace bridge
