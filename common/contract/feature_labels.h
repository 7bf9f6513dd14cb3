// SPDX-License-Identifier: GPL-2.0-or-later
// Which labels of a Node become features in Slurm, and how they are called
// there: k8s.NAME.VALUE, so that a job may request --constraint=k8s.zone.eu-1.
// The agent and node_features/k8s share this file. Pure.
#pragma once

#include "common/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct FeatureLabel {
    std::string label; // such as topology.kubernetes.io/zone
    std::string name;  // in the feature, such as zone

    bool operator==(const FeatureLabel &) const = default;
};

// Parses LABEL[:NAME],…; by default NAME is the part of LABEL after the '/'.
// Code::rejected if a label key or a name is invalid, or if two labels have the
// same name.
Result<std::vector<FeatureLabel>> parse_feature_labels(std::string_view text);

// Returns the features that a Node with these labels has, in the order of
// wanted. A value that is not valid for a label, or that slurmctld would not
// read as one word, gives no feature.
std::vector<std::string>
features_of_labels(const std::vector<FeatureLabel> &wanted,
                   const std::map<std::string, std::string> &labels);

// Tells whether one of these labels could give this feature.
bool is_feature_of(const std::vector<FeatureLabel> &wanted,
                   std::string_view feature);

} // namespace bridge
