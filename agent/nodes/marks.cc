// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/marks.h"

#include "agent/objects/busy_marks.h"
#include "common/contract/autoscaler_names.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

constexpr std::size_t max_reason = 512; // bytes
constexpr char no_schedule[] = "NoSchedule";

bool has(const Node &node, const std::string &annotation)
{
    return node.annotations.contains(annotation);
}

NodePatch patch_of(const Node &node)
{
    return {node.name, node.uid, node.resource_version, {}, {}, {}};
}

// Returns the reason, from Slurm, why no job starts there. Empty if jobs can
// start or if the drain is the agent's own.
std::string offline_reason(const SlurmNode &behind)
{
    if ((!behind.drained && !behind.down) ||
        behind.reason.starts_with(names::drain_mark))
        return {};
    std::string state = behind.down ? "DOWN" : "DRAIN";
    return clean_text(behind.reason.empty() ? state
                                            : state + ": " + behind.reason,
                      max_reason);
}

void uncordon(const Node &node, NodePatch &patch)
{
    if (!has(node, names::cordon_mark))
        return;
    patch.annotations[names::cordon_mark] = std::nullopt;
    if (node.unschedulable)
        patch.unschedulable = false;
}

void plan_cordon(const Node &node, const std::string &reason, NodePatch &patch)
{
    if (reason.empty()) {
        uncordon(node, patch);
        if (has(node, names::uncordon_mark))
            patch.annotations[names::uncordon_mark] = std::nullopt;
    } else if (has(node, names::cordon_mark) && !node.unschedulable) {
        patch.annotations[names::cordon_mark] = std::nullopt;
        patch.annotations[names::uncordon_mark] = reason;
    } else if (has(node, names::cordon_mark)) {
        if (node.annotation(names::cordon_mark) != reason)
            patch.annotations[names::cordon_mark] = reason;
    } else if (!node.unschedulable &&
               node.annotation(names::uncordon_mark) != reason) {
        patch.unschedulable = true;
        patch.annotations[names::cordon_mark] = reason;
        if (has(node, names::uncordon_mark))
            patch.annotations[names::uncordon_mark] = std::nullopt;
    }
}

bool is_managed(const Taint &taint)
{
    return taint.key == names::managed_node_taint;
}

void untaint(const Node &node, NodePatch &patch)
{
    if (!has(node, names::taint_mark))
        return;
    patch.annotations[names::taint_mark] = std::nullopt;
    auto ours = [](const Taint &taint) {
        return is_managed(taint) && taint.effect == no_schedule;
    };
    if (std::ranges::any_of(node.taints, ours)) {
        patch.taints = node.taints;
        std::erase_if(*patch.taints, ours);
    }
}

void plan_taint(const Node &node, NodePatch &patch)
{
    if (std::ranges::any_of(node.taints, is_managed))
        return; // ours, or an administrator's with any effect
    patch.taints = node.taints;
    patch.taints->push_back({names::managed_node_taint, "", no_schedule, ""});
    patch.annotations[names::taint_mark] = "true";
}

void plan_maintenance(const Node &node, const std::string &words,
                      NodePatch &patch)
{
    if (node.annotation(names::maintenance_annotation) == words)
        return;
    if (words.empty())
        patch.annotations[names::maintenance_annotation] = std::nullopt;
    else
        patch.annotations[names::maintenance_annotation] = words;
}

void plan_busy(const Node &node, bool busy, NodePatch &patch)
{
    if (busy == has(node, names::busy_mark))
        return;
    constexpr std::array<BusyMark, 2> marks{
        {{names::do_not_disrupt, "true"},
         {names::scale_down_disabled, "true"}}};
    BusyMarks plan = plan_busy_marks(
        marks, [&](const char *name) { return has(node, name); },
        node.annotation(names::busy_mark), busy);
    for (auto &[name, value] : plan.changes)
        patch.annotations[name] = std::move(value);
    patch.annotations[names::busy_mark] =
        busy ? std::optional(plan.own) : std::nullopt;
}

} // namespace

NodePatch plan_marks(const Node &node, const SlurmNode &behind,
                     const std::string &maintenance, const MarkPolicy &policy,
                     std::optional<bool> busy)
{
    NodePatch patch = patch_of(node);
    if (node.deleting)
        return patch;
    if (policy.taint)
        plan_taint(node, patch);
    if (policy.cordon) {
        plan_cordon(node, offline_reason(behind), patch);
        plan_maintenance(node, maintenance, patch);
    }
    plan_busy(node, busy.value_or(false), patch);
    return patch;
}

NodePatch plan_unmark(const Node &node)
{
    NodePatch patch = patch_of(node);
    untaint(node, patch);
    plan_cordon(node, {}, patch);
    plan_maintenance(node, {}, patch);
    plan_busy(node, false, patch);
    return patch;
}

bool cordoned_by_us(const Node &node)
{
    return node.unschedulable && has(node, names::cordon_mark);
}

std::map<std::string, std::string>
maintenance_messages(const std::vector<Reservation> &reservations)
{
    std::vector<const Reservation *> line;
    for (const Reservation &one : reservations)
        if (one.maintenance)
            line.push_back(&one);
    std::ranges::sort(line, {}, [](const Reservation *one) {
        return std::pair(one->start, one->name);
    });
    std::map<std::string, std::string> words;
    for (const Reservation *one : line)
        for (const std::string &node : one->nodes)
            words.try_emplace(node, clean_text(one->name, max_reason) +
                                        " from " + second_time(one->start) +
                                        " to " + second_time(one->end));
    return words;
}

} // namespace bridge
