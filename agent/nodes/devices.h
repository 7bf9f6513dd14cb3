// SPDX-License-Identifier: GPL-2.0-or-later
// What the devices of a Node make of it in Slurm: the GRES of its node, and
// what each index of them stands for. Pure.
//
// The node's `extra` says what each index is (agent/gres/index.h), from before
// anybody relies on it. Slurm's count of GRES cannot change while the node
// exists: what is more, or gone, waits until the node is made anew. Until then
// an index that stands for no device gives none, and a device without an index
// is given to nobody.
#pragma once

#include "agent/gres/inventory.h"
#include "common/slurm/api.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// On a Node with a slurmd, written by administrators: the devices behind the
// indexes of each GRES, in the order of gres.conf, by UUID or PCI address, as
// "gpu=GPU-1,GPU-2;nic=0000:3b:00.0".
inline constexpr char devices_annotation[] = "slurmk8s/devices";

// What one sync knows of devices, whatever the node.
struct DeviceFacts {
    // Null while it is not known: nodes then keep what they have.
    const DeviceInventory *inventory = nullptr;
    const DeviceClaims *claims = nullptr; // null: of none
    std::set<std::string> gres_types; // of slurm.conf; Slurm drops every other
    // What the last sync left, by Slurm's name: where nothing is written any
    // more it is written again.
    std::map<std::string, DeviceIndex> before{};
};

struct NodeDevices {
    // What the indexes stand for, once extra is written.
    DeviceIndex index;
    std::optional<std::string> extra; // that is to be written
    // For the node when it is made: see NodeDescription.
    std::string gres;
    std::string gres_conf;
    std::string made_extra;
    std::string misfit;    // why it has to be made anew; "": it has not
    std::string complaint; // for the log; "": none
};

// Of an external node; known: as Slurm has it, null if it has it not.
NodeDevices plan_devices(const DeviceFacts &facts, const Node &node,
                         const SlurmNode *known);

// Of one with a slurmd, whose GRES are those of gres.conf: which device an
// index is says an annotation of the Node, by UUID or PCI address. Index and
// complaint alone; no index where they do not agree.
NodeDevices hybrid_devices(const DeviceFacts &facts, const Node &node,
                           const SlurmNode &known);

} // namespace bridge
