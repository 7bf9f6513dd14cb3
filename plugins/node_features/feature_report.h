// SPDX-License-Identifier: GPL-2.0-or-later
// The features of a hybrid node that slurmd reports, and how slurmctld joins
// them with what it has. They are for ordinary jobs, which may ask for them
// whether or not there is an agent:
//
//   k8s.kubelet       the machine has a kubelet
//   k8s.static-cpus   which gives containers CPUs of their own
//   k8s.NAME.VALUE    a label of its Node, of those in FeatureLabels
//
// slurmd looks once in its life and says the same at each registration, so the
// agent, which follows the Node, is believed rather than slurmd: while a node
// has the agent's own feature, k8s, what slurmd says of labels changes nothing.
// All others than k8s.… are nothing to us, and stay.
#pragma once

#include "common/contract/conf.h"

#include <string>
#include <vector>

namespace bridge {

// On the node: what there is to report. Reads three files at most; a file that
// is not there, or is not what it should be, gives nothing.
std::vector<std::string> reported_features(const Conf &conf);

// A comma separated list with more words, each of them once.
std::string with_words(const std::string &list,
                       const std::vector<std::string> &more);

// In slurmctld, for the available features and again for the active ones: what
// a node has from now on. fresh comes from slurmd, and says what it knows, or
// from an update, and says all that shall be; before is what there was; allowed
// are the available ones, after an update the new ones.
std::string merged_features(const std::string &fresh, const std::string &before,
                            const std::string &allowed);

} // namespace bridge
