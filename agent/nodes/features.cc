// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/features.h"

#include "agent/nodes/words.h"
#include "common/contract/kubelet_features.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

void add(std::string &list, const std::string &word)
{
    list += (list.empty() ? "" : ",") + word;
}

std::string without_ours(const std::string &features)
{
    std::string rest;
    for (const std::string &word : sorted_words(features))
        if (!word.empty() && (!word.starts_with(names::feature) ||
                              word.starts_with(names::label_feature_prefix)))
            add(rest, word);
    return rest;
}

std::string joined(const std::string &known, const std::string &wish,
                   const std::vector<FeatureLabel> &labels)
{
    std::string features;
    for (const std::string &word : sorted_words(without_ours(known)))
        if (!is_feature_of(labels, word))
            add(features, word);
    std::vector<std::string> have = sorted_words(features);
    for (const std::string &word : sorted_words(wish))
        if (!std::ranges::contains(have, word))
            add(features, word);
    return features;
}

// slurmctld keeps the order that it was given, so most need no sorting.
bool same_words(const std::string &a, const std::string &b)
{
    return a == b || sorted_words(a) == sorted_words(b);
}

const std::string &active_features(const SlurmNode &known)
{
    return known.active_features ? *known.active_features : known.features;
}

} // namespace

std::string features_of(const Node &node,
                        const std::vector<FeatureLabel> &labels,
                        std::vector<std::string> &warnings)
{
    std::string features = names::feature;
    for (std::string word :
         words_of(node.annotation(names::external_node_partitions))) {
        std::erase(word, ' ');
        if (word.empty())
            continue;
        if (!is_plain_word(word))
            warnings.push_back("Node " + node.name + ": annotation " +
                               names::external_node_partitions +
                               " contains an invalid partition name");
        else if (!has_word(features, word))
            add(features, word);
    }
    for (const std::string &word : features_of_labels(labels, node.labels))
        if (!has_word(features, word))
            add(features, word);
    return features;
}

SetFeatures features_for(const SlurmNode &known, const std::string &wish,
                         const std::vector<FeatureLabel> &labels)
{
    if (known.external)
        return {known.name, wish, wish};
    return {known.name, joined(known.features, wish, labels),
            joined(active_features(known), wish, labels)};
}

std::string kubelet_features_of(const SlurmNode &known)
{
    if (!has_word(known.features, kubelet_feature))
        return {};
    std::string features = kubelet_feature;
    if (has_word(known.features, static_cpus_feature))
        add(features, static_cpus_feature);
    return features;
}

SetFeatures features_left(const SlurmNode &known)
{
    return {known.name, without_ours(known.features),
            without_ours(active_features(known))};
}

bool changes(const SlurmNode &known, const SetFeatures &set)
{
    return !same_words(known.features, set.features) ||
           !same_words(active_features(known), set.active);
}

bool changes_partitions(const SlurmNode &known, const SetFeatures &set)
{
    return without_ours(known.features) != without_ours(set.features) ||
           has_word(known.features, names::feature) !=
               has_word(set.features, names::feature);
}

} // namespace bridge
