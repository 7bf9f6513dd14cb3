// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/node_features/feature_report.h"

#include "common/base/json.h"
#include "common/base/read_file.h"
#include "common/base/text.h"
#include "common/contract/kubelet_features.h"

#include <algorithm>
#include <filesystem>

namespace bridge {

namespace {

using Words = std::vector<std::string>;

Words split(const std::string &list)
{
    Words words;
    for (std::string_view word : all_parts(list, ','))
        if (!word.empty())
            words.emplace_back(word);
    return words;
}

std::string join(const Words &words)
{
    std::string list;
    for (const std::string &word : words)
        list += (list.empty() ? "" : ",") + word;
    return list;
}

bool of_slurmd(const std::string &feature)
{
    return feature.starts_with(names::label_feature_prefix);
}

void add(Words &words, const std::string &word)
{
    if (!std::ranges::contains(words, word))
        words.push_back(word);
}

// Reads an object of strings from a file, such as the labels of the Node as the
// API server writes them: {"key":"value", …}.
std::map<std::string, std::string> texts_in(const std::string &path)
{
    constexpr std::size_t longest = 1 << 20; // a Node's object is smaller
    auto json = Json::parse(read_file(path, longest).value_or(""));
    return json ? json->texts() : std::map<std::string, std::string>{};
}

// Reads the state file of the kubelet's CPU manager. A kubelet does not start
// with another policy than the one in this file.
bool gives_cpus_away(const std::string &kubelet_dir)
{
    return texts_in(kubelet_dir + "/cpu_manager_state")["policyName"] ==
           "static";
}

} // namespace

std::vector<std::string> reported_features(const Conf &conf)
{
    // A kubelet creates this directory before it registers its Node, and keeps
    // it.
    std::error_code none;
    if (!std::filesystem::is_directory(conf.kubelet_dir + "/pods", none))
        return {};
    Words features =
        features_of_labels(conf.feature_labels, texts_in(conf.labels_file));
    features.insert(features.begin(), kubelet_feature);
    if (gives_cpus_away(conf.kubelet_dir))
        add(features, static_cpus_feature);
    return features;
}

std::string with_words(const std::string &list,
                       const std::vector<std::string> &more)
{
    Words words = split(list);
    for (const std::string &word : more)
        add(words, word);
    return join(words);
}

std::string merged_features(const std::string &fresh, const std::string &before,
                            const std::string &allowed)
{
    Words said = split(fresh), had = split(before), may = split(allowed);
    auto agents = [](const Words &words) {
        return std::ranges::contains(words, names::feature);
    };
    bool update = agents(said); // slurmd never reports it
    bool keep = !update && agents(had) && agents(may);
    // Only slurmd knows whether there is a kubelet, and of which kind.
    auto was_static = [&](const std::string &word) {
        return word == static_cpus_feature &&
               std::ranges::contains(said, kubelet_feature);
    };
    Words merged;
    for (const std::string &word : had)
        if (std::ranges::contains(may, word) &&
            (keep ? !was_static(word) : !of_slurmd(word)))
            merged.push_back(word);
    for (const std::string &word : said)
        if (!keep || !of_slurmd(word) || word == kubelet_feature ||
            word == static_cpus_feature)
            add(merged, word);
    return join(merged);
}

} // namespace bridge
