// SPDX-License-Identifier: GPL-2.0-or-later
// The features of Slurm's nodes, and who owns them:
//
//   k8s, k8s-…     the agent, on every node that can run Pods
//   k8s.NAME.…     the agent: a label of the Node that is listed in
//                  FeatureLabels; on a hybrid node slurmd reports it too
//                  (node_features/k8s), but only when it starts
//   k8s.…          slurmd, for example k8s.kubelet; the agent only gives back
//                  what the node had before: see kubelet_features_of()
//   any other      a partition that the Node names; on a hybrid node also
//                  features from slurm.conf or an administrator
//
// External nodes have exactly the features planned here. All lists are comma
// separated. Pure.
#pragma once

#include "agent/nodes/step.h"
#include "agent/objects/objects.h"
#include "common/contract/feature_labels.h"

#include <string>
#include <vector>

namespace bridge {

// Returns the features that the Node requests: the agent's, those of its
// partitions and those of its labels. Appends a message to `warnings` for
// each name that is not valid.
std::string features_of(const Node &node,
                        const std::vector<FeatureLabel> &labels,
                        std::vector<std::string> &warnings);

// Returns the step that sets the requested features and keeps those of other
// owners.
SetFeatures features_for(const SlurmNode &known, const std::string &wish,
                         const std::vector<FeatureLabel> &labels);

// Returns those features of a hybrid node that only slurmd knows: that there is
// a kubelet, and of which kind. Empty if it has not reported one. slurmctld
// forgets them when it starts, and any update that was planned before slurmd's
// registration removes them; slurmd repeats them only at its next registration.
std::string kubelet_features_of(const SlurmNode &known);

// Returns the step that removes the agent's features from a node with a slurmd
// that no Node requests.
SetFeatures features_left(const SlurmNode &known);

// Whether the step changes anything; the order of features is ignored.
// changes_partitions(): whether the change may affect partitions, which are
// built from features that are not the agent's, or from `k8s`.
bool changes(const SlurmNode &known, const SetFeatures &set);
bool changes_partitions(const SlurmNode &known, const SetFeatures &set);

} // namespace bridge
