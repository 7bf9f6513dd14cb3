// SPDX-License-Identifier: GPL-2.0-or-later
// Which labels of a Node become features in Slurm, and how they are called
// there: k8s.NAME.VALUE, so that a job may ask for --constraint=k8s.zone.eu-1.
// Agent and node_features/k8s agree by this file. Pure.
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

// LABEL[:NAME],…; NAME is by default what follows the '/' of LABEL.
// Code::rejected: no label key, no name, or one name for two labels.
Result<std::vector<FeatureLabel>> parse_feature_labels(std::string_view text);

// Those that a Node with these labels has, in the order of wanted. A value that
// no label can have, or that slurmctld would not take for one word, gives none.
std::vector<std::string>
features_of_labels(const std::vector<FeatureLabel> &wanted,
                   const std::map<std::string, std::string> &labels);

// Whether it is one that these labels can give.
bool is_feature_of(const std::vector<FeatureLabel> &wanted,
                   std::string_view feature);

} // namespace bridge
