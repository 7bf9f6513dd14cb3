// SPDX-License-Identifier: GPL-2.0-or-later
// The features of Slurm's nodes, and whose they are:
//
//   k8s, k8s-…     the agent's, on every node on which Pods may live
//   k8s.NAME.…     a label of the Node's, of those in FeatureLabels: the
//                  agent's; on a hybrid node slurmd says it too, by
//                  node_features/k8s, but once in its life
//   k8s.…          slurmd's: such as k8s.kubelet
//   any other      a partition that the Node names; on a hybrid node also what
//                  slurm.conf or an administrator gave it
//
// External nodes have what they shall have and nothing else. Pure.
#pragma once

#include "agent/nodes/step.h"
#include "agent/objects/objects.h"
#include "common/contract/feature_labels.h"

#include <string>
#include <vector>

namespace bridge {

// What the Node asks for: ours, its partitions', its labels'. What it names and
// cannot have is a complaint. Comma separated, as all that follow.
std::string features_of(const Node &node,
                        const std::vector<FeatureLabel> &labels,
                        std::vector<std::string> &complaints);

// The step that gives it those, and leaves it what is others'.
SetFeatures features_for(const SlurmNode &known, const std::string &wish,
                         const std::vector<FeatureLabel> &labels);

// The step that takes ours from a node with a slurmd that no Node asks for.
SetFeatures features_left(const SlurmNode &known);

// Whether the step changes anything, in whatever order; and whether it may
// concern partitions, which are made of features that are not ours, or of k8s.
bool changes(const SlurmNode &known, const SetFeatures &set);
bool changes_partitions(const SlurmNode &known, const SetFeatures &set);

} // namespace bridge
