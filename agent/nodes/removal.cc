// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/removal.h"

#include "agent/nodes/gres.h"
#include "agent/nodes/words.h"
#include "common/contract/names.h"

#include <algorithm>
#include <map>

namespace bridge {

namespace {

std::set<std::string> named_nodes(const std::vector<NodeUse> &uses,
                                  const std::vector<Reservation> &reservations)
{
    std::set<std::string> names;
    for (const NodeUse &use : uses)
        if (!use.over) // slurmctld's log has an error of it, and no job is lost
            names.insert(use.named.begin(), use.named.end());
    for (const Reservation &one : reservations)
        names.insert(one.nodes.begin(), one.nodes.end());
    return names;
}

bool starts_jobs(const SlurmNode &node)
{
    return !node.drained && !node.down && !node.not_responding;
}

// Leaves out the node's own pin feature: a job that requests it names the node.
std::set<std::string> shared_features(const SlurmNode &node)
{
    std::set<std::string> words;
    for (std::string &word : sorted_words(node.features))
        if (word != pin_of(node.name))
            words.insert(std::move(word));
    return words;
}

struct Staying {
    const SlurmNode *node;
    std::set<std::string> features;
};

bool has_gres_of(const SlurmNode &other, const SlurmNode &one)
{
    std::vector<GresCount> counts = gres_counts(other.gres);
    return std::ranges::all_of(
        gres_counts(one.gres), [&](const GresCount &wanted) {
            return std::ranges::any_of(counts, [&](const GresCount &has) {
                return has.gres == wanted.gres && has.type == wanted.type &&
                       has.count >= wanted.count;
            });
        });
}

bool stands_in_for(const Staying &other, const Staying &one)
{
    return other.node != one.node && starts_jobs(*other.node) &&
           other.node->cpus >= one.node->cpus &&
           other.node->memory >= one.node->memory &&
           std::ranges::includes(other.features, one.features) &&
           has_gres_of(*other.node, *one.node);
}

// Whether the feature expression contains this feature; operators separate the
// features.
bool asks_for(const std::string &expression, const std::string &feature)
{
    for (std::size_t at = 0;
         (at = expression.find(feature, at)) != expression.npos; at++) {
        auto ends_word = [&](std::size_t i) {
            return i >= expression.size() ||
                   !is_plain_word(expression.substr(i, 1));
        };
        if ((at == 0 || ends_word(at - 1)) && ends_word(at + feature.size()))
            return true;
    }
    return false;
}

} // namespace

bool is_idle(const SlurmNode &node, std::uint32_t shadow_cpus)
{
    return node.allocated_cpus <= shadow_cpus && !node.completing &&
           !node.reserved;
}

std::uint32_t running_cpus(const std::vector<NodeUse> &shadows,
                           const std::string &node)
{
    std::uint32_t cpus = 0;
    for (const NodeUse &shadow : shadows)
        if (shadow.shadow_of == node && !shadow.pending)
            cpus += shadow.room.cpus;
    return cpus;
}

std::vector<std::string> removable(const std::vector<std::string> &candidates,
                                   const std::vector<SlurmNode> &known,
                                   const std::vector<NodeUse> &uses,
                                   const std::vector<Reservation> &reservations)
{
    std::map<std::string, Staying> staying;
    for (const SlurmNode &node : known)
        staying[node.name] = {&node, shared_features(node)};
    auto waits = [](const NodeUse &use) {
        return use.pending && use.external && use.shadow_of.empty();
    };
    bool anyone_waits = std::ranges::any_of(uses, waits);
    std::set<std::string> named = named_nodes(uses, reservations);

    std::vector<std::string> chosen;
    for (const std::string &name : candidates) {
        auto found = staying.find(name);
        if (found == staying.end() || named.contains(name))
            continue;
        bool pinned = std::ranges::any_of(uses, [&](const NodeUse &use) {
            return waits(use) && asks_for(use.features, pin_of(name));
        });
        bool replaced = !anyone_waits ||
                        std::ranges::any_of(staying, [&](const auto &other) {
                            return stands_in_for(other.second, found->second);
                        });
        if (pinned || !replaced)
            continue;
        staying.erase(found);
        chosen.push_back(name);
    }
    return chosen;
}

} // namespace bridge
