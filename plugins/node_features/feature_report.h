// SPDX-License-Identifier: GPL-2.0-or-later
// The features that slurmd reports for a hybrid node, and how slurmctld merges
// them with those that it has. They are for ordinary jobs, which may request
// them whether or not there is an agent:
//
//    k8s.kubelet       the machine has a kubelet
//    k8s.static-cpus   the kubelet gives containers exclusive CPUs
//    k8s.NAME.VALUE    a label of the Node that is in FeatureLabels
//
// slurmd looks once, when it starts, and reports the same at each registration.
// The agent follows the Node, so it has precedence: while a node has the
// agent's own feature, k8s, slurmd's reports about labels change nothing.
// Features that do not begin with k8s. are left as they are.
#pragma once

#include "common/contract/conf.h"

#include <string>
#include <vector>

namespace bridge {

// Runs on the node: returns what slurmd is to report. Reads at most three
// files; a file that is missing or invalid contributes nothing.
std::vector<std::string> reported_features(const Conf &conf);

// Adds words to a list separated by commas; no word occurs twice.
std::string with_words(const std::string &list,
                       const std::vector<std::string> &more);

// Runs in slurmctld, for the available features and again for the active ones:
// returns the new features of a node. fresh is either slurmd's report, which
// has only what slurmd knows, or an update, which has all features. before has
// the old features. allowed has the available features, after an update the new
// ones.
std::string merged_features(const std::string &fresh, const std::string &before,
                            const std::string &allowed);

} // namespace bridge
