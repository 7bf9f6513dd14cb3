// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/feature_labels.h"

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/contract/kubelet_features.h"
#include "common/contract/names.h"

#include <algorithm>

namespace bridge {

namespace {

// Checks a label's value, or the part of its key after the '/'.
bool plain(std::string_view text, std::string_view others)
{
    return text.size() <= 63 && std::ranges::all_of(text, [&](char c) {
               return is_letter_or_digit(c) || others.contains(c);
           });
}

bool is_label_key(std::string_view key)
{
    std::size_t slash = key.find('/');
    std::string_view prefix = slash == key.npos ? "" : key.substr(0, slash);
    std::string_view name = slash == key.npos ? key : key.substr(slash + 1);
    return !name.empty() && plain(name, "-_.") && slash != 0 &&
           prefix.size() <= 253 && std::ranges::all_of(prefix, [](char c) {
               return is_letter_or_digit(c) || c == '-' || c == '.';
           });
}

std::string_view trim(std::string_view text)
{
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

Result<FeatureLabel> parse_one(std::string_view text)
{
    std::size_t colon = text.find(':');
    std::string label(trim(text.substr(0, colon)));
    if (!is_label_key(label))
        return fail(Code::rejected, "has \"" + label.substr(0, 64) +
                                        "\", which is not a label key");
    std::string name(colon == text.npos ? label.substr(label.find('/') + 1)
                                        : trim(text.substr(colon + 1)));
    bool taken = name == names::kubelet_name || name == static_cpus_name;
    if (name.empty() || !plain(name, "-_") || taken)
        return fail(Code::rejected,
                    "needs a name of letters, digits, '-' and '_' for " +
                        label + ", as in " + label + ":NAME");
    return FeatureLabel{std::move(label), std::move(name)};
}

} // namespace

Result<std::vector<FeatureLabel>> parse_feature_labels(std::string_view text)
{
    std::vector<FeatureLabel> found;
    for (std::string_view part : all_parts(text, ',')) {
        auto one = parse_one(part);
        if (!one)
            return std::unexpected(one.error());
        for (const FeatureLabel &other : found)
            if (other.name == one->name || other.label == one->label)
                return fail(Code::rejected, "gives " + one->label + " and " +
                                                other.label + " the same name");
        found.push_back(std::move(*one));
    }
    return found;
}

std::vector<std::string>
features_of_labels(const std::vector<FeatureLabel> &wanted,
                   const std::map<std::string, std::string> &labels)
{
    std::vector<std::string> features;
    for (const FeatureLabel &one : wanted) {
        auto found = labels.find(one.label);
        if (found == labels.end() || !plain(found->second, "-_."))
            continue;
        features.push_back(names::label_feature_prefix + one.name +
                           (found->second.empty() ? "" : ".") + found->second);
    }
    return features;
}

bool is_feature_of(const std::vector<FeatureLabel> &wanted,
                   std::string_view feature)
{
    constexpr std::string_view prefix = names::label_feature_prefix;
    if (!feature.starts_with(prefix))
        return false;
    feature.remove_prefix(prefix.size()); // no name has a '.'
    std::string_view name = feature.substr(0, feature.find('.'));
    return std::ranges::contains(wanted, name, &FeatureLabel::name);
}

} // namespace bridge
