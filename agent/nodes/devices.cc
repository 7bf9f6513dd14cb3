// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/devices.h"

#include "agent/nodes/creation.h"
#include "agent/nodes/gres.h"

#include <algorithm>
#include <format>
#include <ranges>
#include <utility>

namespace bridge {

namespace {

// Counts only the GRES that DeviceGres names; the agent ignores others.
std::vector<GresCount> counts_of(const SlurmNode *known,
                                 const std::set<std::string> &gres)
{
    std::vector<GresCount> counts = gres_counts(known ? known->gres : "");
    std::erase_if(
        counts, [&](const GresCount &one) { return !gres.contains(one.gres); });
    return counts;
}

std::uint32_t count_in(const std::vector<GresCount> &counts,
                       const GresCount &like)
{
    for (const GresCount &one : counts)
        if (one.gres == like.gres && one.type == like.type)
            return one.count;
    return 0;
}

bool covers(const std::vector<GresCount> &all,
            const std::vector<GresCount> &part)
{
    return std::ranges::all_of(part, [&](const GresCount &one) {
        return count_in(all, one) >= one.count;
    });
}

bool same(const std::vector<GresCount> &a, const std::vector<GresCount> &b)
{
    return covers(a, b) && covers(b, a);
}

// Returns the indexes used by jobs or by claims; a claim may outlive its job
// for a moment.
std::set<GresIndex> used_indexes(const DeviceIndex &index,
                                 const SlurmNode &known,
                                 const DeviceClaims &claims)
{
    GresUsed said = gres_used(known.gres_used);
    std::set<GresIndex> used = std::move(said.indexes);
    for (const auto &[gres, slots] : index.slots())
        for (std::uint32_t i = 0; i < slots.size(); i++)
            if (said.unknown.contains(gres) ||
                claims.ours.contains(slots[i].id) ||
                claims.foreign.contains(slots[i].id))
                used.insert({gres, i});
    return used;
}

std::string joined(const std::string &one, char separator,
                   const std::string &other)
{
    return one.empty() || other.empty() ? one + other : one + separator + other;
}

void describe(NodeDevices &made, const DeviceIndex &target,
              const GresCounts &amounts, const std::string &extra)
{
    made.gres = joined(gres_text(target.counts()), ',', amounts_text(amounts));
    made.gres_conf = joined(gres_conf(target), '+', amounts_conf(amounts));
    made.made_extra = with_device_word(extra, target.text());
}

// Whether the device word in `extra` describes this Slurm node. It is written
// after the node is created, and anybody may change it.
bool belongs(const Result<DeviceIndex> &said,
             const std::vector<GresCount> &counts)
{
    return said && covers(said->counts(), counts);
}

// Whether an agent created the node but ended before it wrote `extra`, and no
// job has been given any of its GRES.
bool is_untold(const SlurmNode &known, const std::string &word)
{
    GresUsed used = gres_used(known.gres_used);
    return is_new(known) && word.empty() && used.indexes.empty() &&
           used.unknown.empty();
}

// Reads the index from `extra`. slurmctld may lose it and people may overwrite
// it; if it is missing, the index of the last sync is used.
Result<DeviceIndex> written_index(const DeviceFacts &facts,
                                  const SlurmNode *known,
                                  const std::string &word)
{
    if (known && word.empty())
        if (auto before = facts.before.find(known->name);
            before != facts.before.end())
            return before->second;
    return DeviceIndex::parse(word);
}

// Whether a claim of ours has a device of which Slurm has no index: slurmctld
// was killed before it saved the node, and came back with the one that was
// there before.
bool has_lost_some(const DeviceIndex &index, const SlurmNode &known,
                   const DeviceClaims &claims)
{
    GresCounts counted = sums_in(known.gres);
    return std::ranges::any_of(index.slots(), [&](const auto &of_gres) {
        const auto &[gres, slots] = of_gres;
        auto there = std::min<std::size_t>(counted[gres], slots.size());
        return std::ranges::any_of(
            slots | std::views::drop(there), [&](const DeviceSlot &slot) {
                return !slot.absent && claims.ours.contains(slot.id);
            });
    });
}

void note_loss(NodeDevices &made, const SlurmNode &known,
               const DeviceClaims &claims)
{
    made.lost =
        !made.misfit.empty() && has_lost_some(made.index, known, claims);
    if (made.lost)
        made.misfit = "Slurm does not count devices that Pods have there";
}

void warn_of_misfit(NodeDevices &made, const SlurmNode *known,
                    const Result<DeviceIndex> &said)
{
    if (!made.misfit.empty())
        made.warning = std::format(
            "node {}: {}{}; it will be recreated when it is idle", known->name,
            made.misfit, said ? "" : " (" + said.error().message + ")");
}

void drop_unknown_types(DevicesNow &now, const std::set<std::string> &types)
{
    std::erase_if(now.present, [&](const GresDevice &device) {
        return !types.contains(device.gres);
    });
}

// Returns the amounts that are counted without indexes; Slurm's present ones
// while the inventory is unknown.
GresCounts target_amounts(const DeviceFacts &facts, const DeviceClaims &claims,
                          const Node &node, const GresCounts &has)
{
    GresCounts amounts =
        amounts_now(*facts.inventory, claims, node).value_or(has);
    std::erase_if(amounts, [&](const auto &amount) {
        return !facts.gres_types.contains(amount.first);
    });
    return amounts;
}

// Returns what a node has while the inventory is unknown: what its extra field
// says.
NodeDevices kept_devices(const Result<DeviceIndex> &said,
                         const std::string &extra)
{
    NodeDevices made;
    if (said) {
        made.index = *said;
        describe(made, *said, {}, extra);
    }
    return made;
}

} // namespace

NodeDevices plan_devices(const DeviceFacts &facts, const Node &node,
                         const SlurmNode *known)
{
    std::string extra = known ? known->extra : "";
    std::string word = device_word(extra);
    auto said = written_index(facts, known, word);
    if (!facts.inventory)
        return kept_devices(said, extra);
    NodeDevices made;
    const DeviceInventory &inventory = *facts.inventory;
    static const DeviceClaims none;
    const DeviceClaims &claims = facts.claims ? *facts.claims : none;
    std::vector<GresCount> counts = counts_of(known, inventory.gres);
    bool trusted = belongs(said, counts);
    DeviceIndex before = trusted ? *said : DeviceIndex{};
    DevicesNow now = devices_now(inventory, claims, node, before);
    drop_unknown_types(now, facts.gres_types);

    DeviceIndex target = before;
    if (trusted && known) {
        made.index = before;
        made.index.update(now, used_indexes(before, *known, claims));
        target = made.index;
        if (std::string text = made.index.text(); text != word)
            made.extra = with_device_word(extra, text);
    } else {
        target.update(now, {});
    }
    target.compact(now);
    GresCounts has = amounts_in(known ? known->gres : "", inventory.counted);
    GresCounts amounts = target_amounts(facts, claims, node, has);
    bool told_now = !trusted && known && is_untold(*known, word) &&
                    same(target.counts(), counts);
    if (!known || told_now)
        made.index = target;
    describe(made, target, amounts, extra);
    if (told_now)
        made.extra = made.made_extra;
    else if (!trusted)
        made.misfit = "its extra field does not say which devices its GRES are";
    else if (known && amounts != has)
        made.misfit = "the amounts counted for its devices have changed";
    else if (!same(target.counts(), counts) || target != made.index)
        made.misfit = "its devices have changed";
    if (trusted && known)
        note_loss(made, *known, claims);
    if (!trusted || made.lost)
        warn_of_misfit(made, known, said);
    return made;
}

} // namespace bridge
