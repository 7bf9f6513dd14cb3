// SPDX-License-Identifier: GPL-2.0-or-later
// On which Nodes the Pods of a NodeSet run: in the mode DaemonSet one on each
// Node that fits; with pinToNode each on the Node on which it was first. Pure.
#pragma once

#include "operator/decide/names.h"
#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge::slinky {

struct DaemonPlaces {
    std::map<std::string, Slot> slots; // by the name of the Pod
    // The names of Pods to which a Node leads, whether or not it fits.
    std::set<std::string> mapped;
    std::vector<std::string> refused; // why a Node that fits gets none
};

// Of two Nodes with one host name none gets a Pod; one that is there stays.
DaemonPlaces daemon_places(const Known &known, const NodeSet &set,
                           const std::vector<const Worker *> &workers);

// The Node of each ordinal, for the status; empty without pinToNode. A Node
// that is gone, or does not fit any more, is not kept.
using Pins = std::map<std::string, std::string>;
Pins pins_of(const Known &known, const NodeSet &set,
             const std::vector<const Worker *> &workers);

// What gives the Pods the annotations of their Nodes that the agent passes on.
std::vector<Step> copy_annotations(const Known &known,
                                   const std::vector<const Worker *> &workers);

} // namespace bridge::slinky
