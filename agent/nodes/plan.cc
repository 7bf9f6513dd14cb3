// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/plan.h"

#include "agent/gres/plugin_resources.h"
#include "agent/nodes/creation.h"
#include "agent/nodes/devices.h"
#include "agent/nodes/features.h"
#include "agent/nodes/gres.h"
#include "agent/nodes/hybrid_size.h"
#include "agent/nodes/pairing.h"
#include "agent/nodes/potential.h"
#include "agent/nodes/removal.h"
#include "agent/nodes/words.h"
#include "common/contract/batch_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace bridge {

namespace {

bool has_pin(const SlurmNode &node)
{
    return has_word(node.features, pin_of(node.name));
}

// Whether the agent created the node: it is external and has the agent's
// feature.
bool ours(const SlurmNode &node)
{
    return node.external &&
           (has_word(node.features, names::feature) || is_new(node));
}

bool drained_by_us(const SlurmNode &known)
{
    return known.drained && known.reason.starts_with(drain_mark);
}

// A node that the gate drained stays drained until no Pod of an ended job is
// left there.
bool gate_keeps(const SlurmNode &known, const DirtyNodes &dirty)
{
    return known.reason.starts_with(names::gate_drain_reason) &&
           (!dirty || dirty->contains(known.name));
}

constexpr char unsized_reason[] =
    "a slurmd Pod on it requests no CPU or no memory; set resources.requests "
    "of slurmd in its NodeSet";

class Planner {
  public:
    Planner(const NodePlanInput &input, const std::vector<SlurmNode> &known,
            const std::vector<Reservation> &reservations)
        : in_(input), maintenance_(maintenance_messages(reservations))
    {
        for (const SlurmNode &node : known)
            known_[node.name] = &node;
        for (const PredicatePtr &predicate : in_.wishes.predicates) {
            const Predicate &value = value_of(predicate);
            predicates_.push_back(
                {&value, value.feature(), asks_for_plugins(value)});
        }
        if (in_.wishes.batch)
            predicates_.push_back(
                {&*in_.wishes.batch, names::batch_feature, false});
    }

    NodePlan plan()
    {
        plan_.shortages_known = in_.foreign.has_value();
        check_gres_types();
        NodeClaims claims = claims_of(in_.nodes, in_.before);
        refuse_unsized(claims);
        for (const NodePtr &node : in_.nodes)
            if (!is_opted_in(*node))
                add_patch(plan_unmark(*node));
        for (const auto &[node, reason] : claims.refused)
            plan_.warnings.push_back("Node " + node +
                                     " is left out: " + reason);
        plan_.refused = std::move(claims.refused);
        for (const auto &[name, node] : claims.nodes)
            plan_claim(name, *node);
        std::set<std::string> potential = plan_potential(claims);
        for (const auto &[name, node] : known_)
            if (!claims.nodes.contains(name) &&
                !claims.left_alone.contains(name) && !potential.contains(name))
                plan_unclaimed(*node);
        return std::move(plan_);
    }

  private:
    struct Wanted {
        const Predicate *predicate;
        std::string feature;
        bool of_plugins; // it needs devices of plugins
    };

    // The same CPUs would count twice. A node that Slurm has stays: jobs may
    // run on it.
    void refuse_unsized(NodeClaims &claims)
    {
        std::erase_if(claims.nodes, [&](const auto &claim) {
            const auto &[name, node] = claim;
            if (taken_on(*node).unsized_workers == 0)
                return false;
            if (known_.contains(name)) {
                plan_.warnings.push_back(
                    "Slurm node " + name +
                    " may count CPUs twice: " + unsized_reason);
                return false;
            }
            claims.refused.emplace(node->name, unsized_reason);
            return true;
        });
    }

    // Whether the devices are known, and how many of them Pods of other
    // schedulers use.
    bool devices_known() const
    {
        return in_.devices && (in_.foreign || in_.devices->resources.empty());
    }

    // Whether they are known, and all slices of their pools are there.
    bool has_complete_devices() const
    {
        return in_.devices && in_.devices->doubtful.empty();
    }

    // Slurm silently drops GRES that GresTypes does not name.
    void check_gres_types()
    {
        if (!in_.count_devices)
            return;
        facts_ = {devices_known() ? in_.devices.get() : nullptr,
                  in_.device_claims.get(), in_.gres_types, in_.devices_before};
        if (!in_.devices)
            return;
        plan_.warnings = in_.devices->warnings;
        for (const std::string &gres : in_.devices->gres)
            check_gres_type(gres, "DeviceGres");
        for (const CapacityGres &one : in_.devices->counted)
            if (one.gres != cpu_gres)
                check_gres_type(one.gres, "DeviceCapacity");
        if (in_.device_claims)
            std::ranges::move(
                overused_devices(*in_.devices, *in_.device_claims),
                std::back_inserter(plan_.warnings));
    }

    void check_gres_type(const std::string &gres, const std::string &setting)
    {
        if (!in_.gres_types.contains(gres))
            plan_.warnings.push_back(
                "GresTypes in slurm.conf has no " + gres + ", which " +
                setting + " in k8s.conf names: Slurm does not count it");
    }

    Amounts taken_on(const Node &node) const
    {
        if (!in_.foreign)
            return {};
        auto there = in_.foreign->find(node.name);
        return there == in_.foreign->end() ? Amounts{} : there->second;
    }

    NodeDevices devices_of(const Node &node, const SlurmNode *known) const
    {
        if (!in_.count_devices)
            return {};
        if (known && !known->external)
            return hybrid_devices(facts_, node, *known);
        Amounts taken = taken_on(node);
        if (taken.devices.empty())
            return plan_devices(facts_, node, known);
        Node left = node;
        left.allocatable = without_devices(node.allocatable, taken);
        return plan_devices(facts_, left, known);
    }

    // GRES that GresTypes has ceased to name are not lost: the nodes have them
    // again when it names them again.
    GresCounts index_counts(const DeviceIndex &index,
                            const std::string &gres) const
    {
        GresCounts counts = sums_in(gres);
        auto has = index.counts();
        std::erase_if(has, [&](const GresCount &one) {
            return in_.gres_types.contains(one.gres);
        });
        counts.merge(sums_in(gres_text(has)));
        return counts;
    }

    // gres: the GRES of the node in Slurm, now or after its creation.
    void record_devices(const std::string &name, const NodeDevices &devices,
                        const std::string &gres)
    {
        if (!in_.count_devices)
            return;
        if (in_.devices)
            if (GresCounts amounts = amounts_in(gres, in_.devices->counted);
                !amounts.empty())
                plan_.amounts[name] = std::move(amounts);
        if (!devices.warning.empty())
            plan_.warnings.push_back(devices.warning);
        if (!devices.index.slots().empty()) {
            plan_.devices[name] = devices.index;
            plan_.index_counts[name] = index_counts(devices.index, gres);
        }
        if (devices.extra)
            plan_.steps.push_back(SetExtra{name, *devices.extra});
    }

    void add_patch(NodePatch patch)
    {
        if (!patch.empty())
            plan_.patches.push_back(std::move(patch));
    }

    NodeDescription wish_of(const std::string &name, const Node &node,
                            const SlurmNode *known, const NodeDevices &devices)
    {
        Amounts left = less(node.allocatable, taken_on(node));
        NodeDescription wish{
            name,
            in_.address,
            in_.port,
            whole_cpus_down(left.cpu),
            mebibytes_down(left.memory),
            features_of(node, in_.feature_labels, plan_.warnings),
            topology_of(node, plan_.warnings)};
        wish.gres = devices.gres;
        wish.gres_conf = devices.gres_conf;
        wish.extra = devices.made_extra;
        // A Node without a size has not been reported by its kubelet yet.
        if (known && in_.foreign && node.allocatable.cpu.value != 0)
            record_shortage(*known, wish, devices);
        add_predicates(node, known, wish);
        add_cpu_devices(node, known, wish);
        bool pin = in_.wishes.pins.contains(name) || needs_shadow(name) ||
                   (in_.wishes.keep_others && known && has_pin(*known));
        if (pin) {
            wish.features += "," + pin_of(name);
            plan_.pinned.insert(name);
        }
        return wish;
    }

    // Whether Slurm counts the device plugin resources that the predicate
    // needs. A job that requests GRES which are not counted yet would keep the
    // node from being recreated with them.
    bool gives_plugins(const Wanted &wanted, const SlurmNode *known,
                       const NodeDescription &wish) const
    {
        if (known && !known->external)
            return false;
        if (!in_.devices) // not known yet
            return known && has_word(known->features, wanted.feature);
        auto counts = gres_counts(known ? known->gres : wish.gres);
        return std::ranges::all_of(
            in_.devices->resources, [&](const DeviceGres &one) {
                bool counted =
                    std::ranges::any_of(counts, [&](const GresCount &has) {
                        return has.gres == one.gres && has.type == one.type;
                    });
                return counted ||
                       !std::ranges::contains(wanted.predicate->selectors(),
                                              where_offered(one.name));
            });
    }

    // Whether the Node's devices could satisfy the predicate. While that is not
    // known, as when the driver is away, a node keeps the feature that it has:
    // it keeps its GRES, too, and jobs may wait for it.
    bool has_devices(const Wanted &wanted, const Node &node,
                     const SlurmNode *known, const NodeDescription &wish) const
    {
        const DeviceCondition &asked = wanted.predicate->devices();
        if (asked.text.empty())
            return true;
        if (node.uid.empty()) // it does not exist: what its drivers say is open
            return !wish.gres.empty();
        auto has = in_.has_devices ? in_.has_devices(asked, node)
                                   : std::optional<bool>();
        return has.value_or(known && has_word(known->features, wanted.feature));
    }

    // Adds the features of the predicates that the Node satisfies. With
    // keep_others, features of unknown predicates stay, because jobs may wait
    // for them.
    void add_predicates(const Node &node, const SlurmNode *known,
                        NodeDescription &wish)
    {
        for (const Wanted &wanted : predicates_) {
            if (!matches(*wanted.predicate, node))
                continue;
            if (!wanted.predicate->devices().text.empty() && !node.uid.empty())
                plan_.selected.insert(wanted.feature);
            if ((wanted.of_plugins && !gives_plugins(wanted, known, wish)) ||
                !has_devices(wanted, node, known, wish))
                continue;
            const std::string &feature = wanted.feature;
            wish.features += "," + feature;
            plan_.placed[wish.name].push_back(feature);
        }
        if (!in_.wishes.keep_others || !known)
            return;
        std::vector<std::string> have = sorted_words(wish.features);
        for (const std::string &word : words_of(known->features))
            if (word.starts_with(names::predicate_prefix) &&
                !word.starts_with(names::pin_prefix) &&
                word != names::untainted_feature &&
                word != names::batch_feature &&
                word != names::cpu_devices_feature &&
                !std::ranges::binary_search(have, word))
                wish.features += "," + word;
    }

    // CPUs of a node with a slurmd are never given out by claims, because
    // slurmd binds its tasks to exactly the CPUs that Slurm chose. While
    // resource pools are incomplete, a node keeps the feature, because missing
    // devices may only be unlisted.
    void add_cpu_devices(const Node &node, const SlurmNode *known,
                         NodeDescription &wish)
    {
        if (!in_.count_devices)
            return;
        bool has = in_.devices && in_.devices->cpus.contains(node.name);
        if (has && known && !known->external) {
            plan_.warnings.push_back(
                "Node " + node.name +
                " has CPU devices and a slurmd: Pods get none of them");
            return;
        }
        bool doubtful = !in_.devices || !in_.devices->doubtful.empty();
        bool had = known && known->external &&
                   has_word(known->features, names::cpu_devices_feature);
        if (!has && !(doubtful && had))
            return;
        wish.features += std::string(",") + names::cpu_devices_feature;
        if (has)
            plan_.cpu_nodes.insert(wish.name);
    }

    void record_shortage(const SlurmNode &known, const NodeDescription &wish,
                         const NodeDevices &devices)
    {
        auto more = [](auto has, auto may) { return has - std::min(has, may); };
        NodeRoom room{
            more(known.usable_cpus, wish.cpus),
            MebiBytes{more(known.usable_memory.value, wish.memory.value)}};
        if (known.external)
            room.gres =
                missing_plugin_gres(devices.index, gres_counts(known.gres));
        if (!room.none())
            plan_.shortages[known.name] = room;
    }

    // Whether a shadow job has to be submitted for the node, or is pending: it
    // needs the node's pin feature until it runs.
    bool needs_shadow(const std::string &name)
    {
        auto shortage = plan_.shortages.find(name);
        if (shortage == plan_.shortages.end())
            return false;
        NodeRoom held;
        for (const NodeUse &shadow : in_.shadows)
            if (shadow.shadow_of == name && !shadow.pending)
                held += shadow.room;
        return !held.covers(shortage->second);
    }

    void plan_claim(const std::string &name, const Node &node)
    {
        auto found = known_.find(name);
        const SlurmNode *known =
            found == known_.end() ? nullptr : found->second;
        NodeDevices devices = devices_of(node, known);
        NodeDescription wish = wish_of(name, node, known, devices);
        if (known)
            plan_known(node, *known, wish, devices);
        else
            plan_new(node, wish, devices);
    }

    void plan_new(const Node &node, const NodeDescription &wish,
                  const NodeDevices &devices)
    {
        if (!in_.foreign || wish.cpus == 0 || wish.memory.value == 0)
            return; // its kubelet has not reported its size yet
        if (in_.await_devices && !has_complete_devices())
            return; // it would have to be recreated later
        plan_.nodes[wish.name] = node.name;
        record_devices(wish.name, devices, wish.gres);
        add_creation(plan_.steps, wish);
        if (std::string reason = drain_reason(node); !reason.empty())
            plan_.steps.push_back(DrainNode{wish.name, drain_mark + reason});
        // Slurm has lost an administrator's drain
        else if (cordoned_by_us(node))
            plan_.steps.push_back(
                DrainNode{wish.name, node.annotation(names::cordon_mark)});
    }

    void plan_known(const Node &node, const SlurmNode &known,
                    const NodeDescription &wish, const NodeDevices &devices)
    {
        plan_.nodes[known.name] = node.name;
        if (!known.external)
            plan_.hybrid.insert(known.name);
        plan_size(node, known, wish, devices);
        bool untold = is_new(known) && in_.count_devices && !devices_known();
        if (!untold) // the devices behind its GRES are known
            plan_features(known,
                          features_for(known, wish.features + lost(known),
                                       in_.feature_labels));
        if (!wish.topology.empty() && wish.topology != known.topology)
            plan_.steps.push_back(SetTopology{known.name, wish.topology});
        plan_state(node, known);
        auto ahead = maintenance_.find(known.name);
        add_patch(plan_marks(node, known,
                             ahead == maintenance_.end() ? "" : ahead->second,
                             in_.marks, busy(node, known)));
    }

    // What slurmd has reported of its kubelet and the node has no more, behind
    // a comma.
    std::string lost(const SlurmNode &known) const
    {
        auto had = in_.reported.find(known.name);
        if (had == in_.reported.end() || !kubelet_features_of(known).empty())
            return {};
        return "," + had->second;
    }

    std::optional<bool> busy(const Node &node, const SlurmNode &known) const
    {
        if (!is_of_pool(in_.pools, node))
            return std::nullopt;
        return !is_idle(known, running_cpus(in_.shadows, known.name));
    }

    void plan_features(const SlurmNode &known, SetFeatures set)
    {
        if (!changes(known, set))
            return;
        plan_.partitions_changed |= changes_partitions(known, set);
        plan_.steps.push_back(std::move(set));
    }

    void plan_size(const Node &node, const SlurmNode &known,
                   const NodeDescription &wish, const NodeDevices &devices)
    {
        record_devices(known.name, devices, known.gres);
        if (!in_.foreign)
            return;
        if (!known.external) {
            if (std::string reason =
                    too_large_node_reason(known, wish.cpus, wish.memory);
                !reason.empty()) // a shadow job holds the difference
                plan_.warnings.push_back("Node " + node.name + ": " + reason);
            return;
        }
        std::string reason;
        if (known.cpus != wish.cpus || known.memory != wish.memory)
            reason = "its size is another one";
        else if (known.address != wish.address || known.port != wish.port)
            reason = "its NodeAddr is another one";
        else if (known.not_responding)
            reason = "a signal to it was not answered";
        bool of_devices = reason.empty();
        if (of_devices)
            reason = devices.misfit;
        // Recreating it would lose the drain, for a moment or for good.
        if (!reason.empty() && !known.drained && !known.down &&
            wish.cpus != 0 && wish.memory.value != 0)
            plan_.misfits.push_back({wish, reason, of_devices, devices.lost});
    }

    // Plans the nodes that stand for Nodes which may still come; returns their
    // names.
    std::set<std::string> plan_potential(const NodeClaims &claims)
    {
        std::set<std::string> names;
        for (const NodePool &pool : in_.pools)
            for (const GresCount &count : gres_counts(pool.gres))
                check_gres_type(count.gres, "NodePool");
        for (PotentialNode &one : potential_nodes(in_.pools, in_.nodes)) {
            const std::string &name = one.slurm_name;
            auto found = known_.find(name);
            if (claims.nodes.contains(name) || claims.left_alone.contains(name))
                continue;
            if (found != known_.end() && !found->second->external) {
                plan_.warnings.push_back("NodePool in k8s.conf: " + name +
                                         " is the name of a node with slurmd");
                continue;
            }
            names.insert(name);
            plan_potential(one,
                           found == known_.end() ? nullptr : found->second);
        }
        return names;
    }

    // Slurm silently drops GRES that GresTypes does not name.
    void check_gres(PotentialNode &one)
    {
        auto counts = gres_counts(one.gres);
        std::erase_if(counts, [&](const GresCount &count) {
            return !in_.gres_types.contains(count.gres);
        });
        one.gres = gres_text(counts);
    }

    void plan_potential(PotentialNode &one, const SlurmNode *known)
    {
        check_gres(one);
        offer_plugins(one);
        NodeDescription wish{
            one.slurm_name,
            in_.address,
            in_.port,
            whole_cpus_down(one.node.allocatable.cpu),
            mebibytes_down(one.node.allocatable.memory),
            features_of(one.node, in_.feature_labels, plan_.warnings),
            {}};
        wish.gres = one.gres;
        wish.gres_conf = potential_gres_conf(one.gres);
        add_predicates(one.node, known, wish);
        if (!known)
            return add_creation(plan_.steps, wish, potential_reason);
        if (known->cpus != wish.cpus || known->memory != wish.memory ||
            sums_in(known->gres) != sums_in(wish.gres)) {
            plan_.unclaimed.push_back(known->name); // it comes back right
            return;
        }
        if (!known->down) // somebody has resumed it
            plan_.steps.push_back(DownNode{known->name, potential_reason});
        plan_features(*known,
                      features_for(*known, wish.features, in_.feature_labels));
    }

    // What its kubelet will offer of the resources that Slurm counts as GRES.
    void offer_plugins(PotentialNode &one) const
    {
        if (!in_.devices)
            return;
        for (const DeviceGres &resource : in_.devices->resources)
            for (const GresCount &has : gres_counts(one.gres))
                if (has.gres == resource.gres && has.type == resource.type)
                    one.node.allocatable.others[resource.name] = has.count;
    }

    void plan_state(const Node &node, const SlurmNode &known)
    {
        std::string reason = drain_reason(node);
        bool gate = gate_keeps(known, in_.dirty);
        plan_.sync_again |= gate && !in_.dirty;
        // A node that is DOWN starts nothing, and its reason belongs to
        // somebody else.
        if (gate || known.down)
            return;
        if (!reason.empty()) {
            if (!known.drained ||
                (drained_by_us(known) && known.reason != drain_mark + reason))
                plan_.steps.push_back(
                    DrainNode{known.name, drain_mark + reason});
        } else if (drained_by_us(known)) {
            plan_.steps.push_back(ResumeNode{known.name});
        }
    }

    // No Node requests this Slurm node any more.
    void plan_unclaimed(const SlurmNode &known)
    {
        bool empty = in_.dirty && !in_.dirty->contains(known.name) &&
                     !in_.occupied.contains(known.name);
        if (!known.external) // it stays in Slurm without us
            return plan_left(known, empty);
        if (!ours(known))
            return;
        if (is_potential(known)) // no job can be there
            return plan_.unclaimed.push_back(known.name);
        if (!known.drained && !known.down)
            plan_.steps.push_back(DrainNode{
                known.name, std::string(drain_mark) +
                                "no Kubernetes Node requests this node"});
        else if (drained_by_us(known) && empty)
            plan_.unclaimed.push_back(known.name);
        plan_.leaving |= !empty;
    }

    void plan_left(const SlurmNode &known, bool empty)
    {
        if (has_word(known.features, names::feature))
            plan_features(known, features_left(known));
        if (!drained_by_us(known) || known.down)
            return;
        if (empty)
            plan_.steps.push_back(ResumeNode{known.name});
        plan_.leaving |= !empty;
    }

    const NodePlanInput &in_;
    std::map<std::string, std::string> maintenance_;
    std::map<std::string, const SlurmNode *> known_;
    std::vector<Wanted> predicates_;
    DeviceFacts facts_;
    NodePlan plan_;
};

} // namespace

NodePlan plan_nodes(const NodePlanInput &input,
                    const std::vector<SlurmNode> &known,
                    const std::vector<Reservation> &reservations)
{
    return Planner(input, known, reservations).plan();
}

bool same_for_slurm(const Node &a, const Node &b)
{
    return a.labels == b.labels && a.annotations == b.annotations &&
           a.unschedulable == b.unschedulable && a.ready == b.ready &&
           a.deleting == b.deleting && a.allocatable == b.allocatable &&
           a.taints == b.taints && a.unfit_reason == b.unfit_reason &&
           a.uid == b.uid;
}

} // namespace bridge
