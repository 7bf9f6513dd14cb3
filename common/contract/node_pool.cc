// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/node_pool.h"

#include "common/base/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <set>

namespace bridge {

namespace {

constexpr std::string_view form =
    "must be NAME Nodes=N CPUs=N RealMemory=MIB, with Gres=, Labels=, "
    "Partitions= and Taints= behind";
constexpr std::uint32_t most_nodes = 10000;
constexpr std::uint32_t most_cpus = 65533; // what a Slurm node can have
constexpr std::uint32_t most_memory = 1U << 30;
constexpr std::size_t longest_name = 48; // with its number, a label of DNS
constexpr std::size_t longest_word = 64; // of what is shown of a wrong one

Result<> bad(const std::string &reason)
{
    return fail(Code::rejected, reason);
}

bool is_name(std::string_view name)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyz0123456789-";
    return !name.empty() && name.size() <= longest_name &&
           name.find_first_not_of(allowed) == name.npos &&
           name.front() != '-' && name.back() != '-';
}

// A word of Slurm's lists, or of a label or a taint: nothing that would end
// the word where the text is used.
bool is_word(std::string_view word)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
    return !word.empty() && word.find_first_not_of(allowed) == word.npos;
}

std::optional<std::uint32_t> number_in(std::string_view text,
                                       std::uint32_t most)
{
    auto number = whole_number<std::uint32_t>(text);
    return number && *number != 0 && *number <= most ? number : std::nullopt;
}

template <auto field, std::uint32_t most>
Result<> set_number(NodePool &pool, std::string_view value)
{
    auto number = number_in(value, most);
    if (!number)
        return bad("must be a number from 1 to " + std::to_string(most));
    if constexpr (requires { pool.*field = MebiBytes{*number}; })
        pool.*field = MebiBytes{*number};
    else
        pool.*field = *number;
    return {};
}

Result<> set_gres(NodePool &pool, std::string_view value)
{
    for (std::string_view one : all_parts(value, ',')) {
        auto words = all_parts(one, ':');
        if (words.size() < 2 || words.size() > 3 ||
            !std::ranges::all_of(words, is_word) ||
            !number_in(words.back(), UINT32_MAX))
            return bad("must be a list of NAME:COUNT or NAME:TYPE:COUNT");
    }
    pool.gres = value;
    return {};
}

Result<> set_labels(NodePool &pool, std::string_view value)
{
    pool.labels.clear();
    for (std::string_view one : all_parts(value, ',')) {
        std::size_t equals = one.find('=');
        std::string_view key = one.substr(0, equals);
        std::string_view text =
            equals == one.npos ? std::string_view{} : one.substr(equals + 1);
        if (!is_word(key) || (!text.empty() && !is_word(text)))
            return bad("must be a list of KEY=VALUE");
        if (!pool.labels.emplace(key, text).second)
            return bad("names label \"" + std::string(key) + "\" twice");
    }
    return {};
}

Result<> set_partitions(NodePool &pool, std::string_view value)
{
    if (!std::ranges::all_of(all_parts(value, ','), is_word))
        return bad("must be a list of partitions");
    pool.partitions = value;
    return {};
}

Result<> set_taints(NodePool &pool, std::string_view value)
{
    constexpr std::array<std::string_view, 3> effects = {
        "NoSchedule", "PreferNoSchedule", "NoExecute"};
    for (std::string_view one : all_parts(value, ',')) {
        std::size_t colon = one.rfind(':');
        std::string_view name = one.substr(0, colon);
        std::string_view key = name.substr(0, name.find('='));
        if (colon == one.npos || !is_word(key) ||
            !std::ranges::contains(effects, one.substr(colon + 1)) ||
            (name.size() > key.size() + 1 &&
             !is_word(name.substr(key.size() + 1))))
            return bad("must be a list of KEY=VALUE:EFFECT or KEY:EFFECT, with "
                       "an effect such as NoSchedule");
        pool.taints.emplace_back(one);
    }
    return {};
}

struct Setting {
    std::string_view key;
    Result<> (*set)(NodePool &, std::string_view);
};

constexpr std::array settings = {
    Setting{"Nodes", set_number<&NodePool::nodes, most_nodes>},
    Setting{"CPUs", set_number<&NodePool::cpus, most_cpus>},
    Setting{"RealMemory", set_number<&NodePool::memory, most_memory>},
    Setting{"Gres", set_gres},
    Setting{"Labels", set_labels},
    Setting{"Partitions", set_partitions},
    Setting{"Taints", set_taints},
};

Result<> set_word(NodePool &pool, std::string_view word,
                  std::set<std::string_view> &seen)
{
    std::string_view key = word.substr(0, word.find('='));
    auto known = std::ranges::find(settings, key, &Setting::key);
    if (known == settings.end() || key.size() == word.size())
        return bad(std::string(form) + ", but has \"" +
                   std::string(word.substr(0, longest_word)) + "\"");
    if (key.size() + 1 == word.size())
        return bad("has no value for " + std::string(key));
    if (!seen.insert(key).second)
        return bad("has " + std::string(key) + " twice");
    if (auto set = known->set(pool, word.substr(key.size() + 1)); !set)
        return bad(std::string(key) + " " + set.error().message);
    return {};
}

} // namespace

Result<> add_node_pool(std::vector<NodePool> &pools, std::string_view text)
{
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t first =
            std::min(text.find_first_not_of(" \t", at), text.size());
        at = std::min(text.find_first_of(" \t", first), text.size());
        if (first < at)
            words.push_back(text.substr(first, at - first));
    }
    if (words.empty() || !is_name(words.front()))
        return bad("must begin with the name of the pool, in small letters, "
                   "digits and hyphens");
    NodePool pool;
    pool.name = words.front();
    pool.labels.emplace(karpenter_pool_label, pool.name);
    std::set<std::string_view> seen;
    for (std::string_view word : words | std::views::drop(1))
        if (auto set = set_word(pool, word, seen); !set)
            return set;
    if (pool.nodes == 0 || pool.cpus == 0 || pool.memory.value == 0)
        return bad(std::string(form));
    if (std::ranges::contains(pools, pool.name, &NodePool::name))
        return bad("names pool \"" + pool.name + "\" twice");
    pools.push_back(std::move(pool));
    return {};
}

std::string node_in(const NodePool &pool, std::uint32_t number)
{
    return pool.name + "-" + std::to_string(number);
}

} // namespace bridge
