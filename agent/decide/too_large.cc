// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/too_large.h"

#include "agent/gang/facts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <format>
#include <map>
#include <set>

namespace bridge {

namespace {

constexpr char no_node[] = "No node is large enough for ";
// What Slurm's slurm_errno.c says of a job for its size.
constexpr std::array size_errors = {
    "Requested node configuration is not available",
    "More processors requested than permitted",
    "Memory required by task is not available"};
constexpr std::uint64_t mib_in_gib = 1024;
// What Slurm has for a node whose RealMemory slurm.conf does not set.
constexpr std::uint64_t memory_not_set = 1;
constexpr std::uint64_t no_limit = UINT64_MAX; // it is not known

// Amounts by the name of the resource, as Slurm has them: "cpu", "memory" in
// MiB, "gres/gpu:a100".
using Parts = std::map<std::string, std::uint64_t>;

void add_gres(Parts &parts, const GresCounts &counts)
{
    for (const auto &[kind, count] : counts) {
        std::uint64_t &part = parts["gres/" + kind];
        part = std::max(part, count);
    }
}

Parts parts_of(const Gang &gang, const Pod &pod)
{
    Parts parts{{"cpu", cpus_of(gang, pod)},
                {"memory", mebibytes_up(pod.requests.memory).value}};
    if (gang.devices)
        add_gres(parts, asked_gres(gang.devices->gres));
    return parts;
}

std::uint64_t amount_on(const NodeSize &size, const std::string &part)
{
    if (part == "cpu")
        return size.cpus;
    if (part == "memory")
        return size.memory.value > memory_not_set ? size.memory.value
                                                  : no_limit;
    auto gres = size.gres.find(part.substr(sizeof("gres/") - 1));
    if (gres != size.gres.end())
        return gres->second;
    return size.gres_known ? 0 : no_limit;
}

std::string text(const std::string &part, std::uint64_t amount)
{
    if (part != "memory")
        return std::format("{}={}", part, amount);
    if (amount % mib_in_gib == 0)
        return std::format("{}={}Gi", part, amount / mib_in_gib);
    return std::format("{}={}Mi", part, amount);
}

bool holds(const NodeSize &size, const Parts &parts)
{
    return std::ranges::all_of(parts, [&](const auto &part) {
        return part.second <= amount_on(size, part.first);
    });
}

const NodeSize &largest(const std::vector<NodeSize> &sizes,
                        const std::string &part)
{
    return *std::ranges::max_element(
        sizes, {}, [&](const NodeSize &size) { return amount_on(size, part); });
}

std::string joined(const std::vector<std::string> &texts, const char *between)
{
    std::string all;
    for (const std::string &one : texts)
        all += (all.empty() ? "" : between) + one;
    return all;
}

std::string texts(const Parts &parts, const char *between = " and ")
{
    std::vector<std::string> each;
    for (const auto &[part, amount] : parts)
        each.push_back(text(part, amount));
    return joined(each, between);
}

// Each of these parts is more than any node has.
std::string each_too_large(const Parts &parts,
                           const std::vector<NodeSize> &sizes)
{
    std::vector<std::string> have;
    for (const auto &[part, amount] : parts) {
        const NodeSize &most = largest(sizes, part);
        have.push_back(most.node + " with " +
                       text(part, amount_on(most, part)));
    }
    return std::format("it asks for {}, and the largest that it may have is {}",
                       texts(parts), joined(have, " and "));
}

// Each part alone is on some node.
std::string too_large_together(const Parts &parts,
                               const std::vector<NodeSize> &sizes)
{
    std::set<std::string> named;
    std::vector<std::string> have;
    for (const auto &[part, amount] : parts) {
        const NodeSize &most = largest(sizes, part);
        if (!named.insert(most.node).second)
            continue;
        Parts there;
        for (const auto &[name, wanted] : parts)
            if (auto has = amount_on(most, name); has != no_limit)
                there[name] = has;
        have.push_back(most.node + " has " + texts(there));
    }
    return std::format("it asks for {} together, and {}", texts(parts),
                       joined(have, ", "));
}

std::string too_large_words(const Parts &parts,
                            const std::vector<NodeSize> &sizes)
{
    Parts too_large;
    for (const auto &[part, amount] : parts)
        if (amount > amount_on(largest(sizes, part), part))
            too_large.emplace(part, amount);
    return too_large.empty() ? too_large_together(parts, sizes)
                             : each_too_large(too_large, sizes);
}

} // namespace

std::string too_large_message(const Gang &gang,
                              const std::vector<NodeSize> &sizes)
{
    if (sizes.empty())
        return {};
    for (const PodPtr &pod : gang.grouped ? asked_for(gang) : gang.pods) {
        if (!waits(gang, *pod))
            continue;
        Parts parts = parts_of(gang, *pod);
        auto fits = [&](const NodeSize &size) { return holds(size, parts); };
        if (std::ranges::any_of(sizes, fits))
            continue;
        std::string who =
            gang.grouped ? "Pod " + pod->key.name : std::string("the Pod");
        return std::format("{}{}: {}. It waits for a larger node, or can be "
                           "deleted and created again with less.",
                           no_node, who, too_large_words(parts, sizes));
    }
    return {};
}

bool is_too_large(const std::string &message)
{
    return message.starts_with(no_node);
}

bool is_size_error(const std::string &error)
{
    return std::ranges::any_of(
        size_errors, [&](const char *one) { return error.contains(one); });
}

std::string asked_message(const Gang &gang, const std::string &error)
{
    if (!is_size_error(error) || gang.pods.empty())
        return {};
    const Pod &first = lead_of(gang);
    return std::format(" {} asks for {}.",
                       gang.grouped ? "Pod " + first.key.name : "The Pod",
                       texts(parts_of(gang, first), ", "));
}

std::string most_devices_message(const Gang &gang,
                                 const std::vector<NodeSize> &sizes)
{
    if (sizes.empty() || !gang.devices)
        return {};
    Parts parts;
    add_gres(parts, asked_gres(gang.devices->gres));
    std::string message;
    for (const auto &[part, amount] : parts) {
        const NodeSize &most = largest(sizes, part);
        if (amount > amount_on(most, part))
            message += std::format(" It needs {}, and the most on a node is "
                                   "{} ({}).",
                                   text(part, amount), amount_on(most, part),
                                   most.node);
    }
    return message;
}

} // namespace bridge
