// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/words.h"

#include "agent/nodes/marks.h"
#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/contract/autoscaler_names.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_topology = 256; // bytes

bool is_word_character(char c)
{
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
}

} // namespace

bool is_opted_in(const Node &node)
{
    std::string value = node.label(names::external_node_label);
    return value == "true" || value == "True" || value == "1";
}

std::string slurm_name(const Node &node)
{
    std::string name = node.label(names::slurm_nodename_label);
    return name.empty() ? node.name : name;
}

bool is_plain_word(std::string_view word)
{
    return !word.empty() && word.size() <= 253 &&
           std::ranges::all_of(word, is_word_character);
}

std::vector<std::string> words_of(const std::string &list)
{
    std::vector<std::string> words;
    for (std::string_view rest = list; !rest.empty();)
        words.emplace_back(next_part(rest, ','));
    return words;
}

std::vector<std::string> sorted_words(const std::string &list)
{
    std::vector<std::string> words = words_of(list);
    std::ranges::sort(words);
    return words;
}

bool has_word(const std::string &list, const std::string &word)
{
    return std::ranges::contains(words_of(list), word);
}

std::string topology_of(const Node &node, std::vector<std::string> &warnings)
{
    std::string spec = node.annotation(names::topology_annotation);
    bool readable =
        spec.size() <= max_topology && std::ranges::all_of(spec, [](char c) {
            return is_word_character(c) || c == ':' || c == ',';
        });
    if (readable)
        return spec;
    warnings.push_back("Node " + node.name + ": annotation " +
                       names::topology_annotation + " is not a valid topology");
    return {};
}

std::string drain_reason(const Node &node)
{
    if (node.deleting)
        return "the Node is being deleted";
    if (node.unschedulable && !cordoned_by_us(node))
        return "the Node is cordoned";
    if (!node.ready)
        return "the Node is not ready";
    auto goes = [](const Taint &taint) {
        return taint.key == names::karpenter_removes ||
               taint.key == names::cluster_autoscaler_removes;
    };
    if (std::ranges::any_of(node.taints, goes))
        return "its autoscaler is about to remove the Node";
    return {};
}

std::string pin_of(const std::string &slurm_node)
{
    return names::pin_prefix + slurm_node;
}

} // namespace bridge
