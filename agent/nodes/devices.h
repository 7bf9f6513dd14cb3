// SPDX-License-Identifier: GPL-2.0-or-later
// Maps the devices of a Node to Slurm: the GRES of its Slurm node, and the
// device that each GRES index stands for. Pure.
//
// The `extra` field of the Slurm node records what each index stands for
// (agent/gres/index.h); it is written before any job can use the GRES. Slurm
// cannot change the GRES count of an existing node: added and removed devices
// wait until the node is recreated. Until then an index without a device
// provides none, and a device without an index is not assigned.
#pragma once

#include "agent/gres/inventory.h"
#include "common/slurm/api.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Annotation that administrators write on a Node with a slurmd: the devices
// behind the indexes of each GRES, in the order of gres.conf, by UUID or PCI
// address, such as "gpu=GPU-1,GPU-2;nic=0000:3b:00.0".
inline constexpr char devices_annotation[] = "slurmk8s/devices";

// What one sync knows about devices, for all nodes.
struct DeviceFacts {
    // Null while the inventory is unknown: nodes then keep what they have.
    const DeviceInventory *inventory = nullptr;
    const DeviceClaims *claims = nullptr; // null: no claims
    // GresTypes of slurm.conf; Slurm drops all others.
    std::set<std::string> gres_types;
    // The indexes after the last sync, by Slurm's node name. If `extra` has
    // lost them, they are written again.
    std::map<std::string, DeviceIndex> before{};
};

struct NodeDevices {
    // What the indexes stand for once `extra` is written.
    DeviceIndex index;
    std::optional<std::string> extra; // to be written; nothing: unchanged
    // Values for creating the node, see NodeDescription.
    std::string gres;
    std::string gres_conf;
    std::string made_extra;
    std::string misfit; // why it must be recreated; "": it need not be
    // Slurm counts fewer than Pods of ours have. Every job that starts on the
    // node meanwhile keeps it from being recreated.
    bool lost = false;
    std::string warning; // for the log; "": nothing to report
};

// Plans the devices of an external node. known: the node as Slurm has it, or
// null if Slurm does not have it.
NodeDevices plan_devices(const DeviceFacts &facts, const Node &node,
                         const SlurmNode *known);

// Plans the devices of a node with a slurmd, whose GRES come from gres.conf. An
// annotation of the Node (devices_annotation) names the device of each index by
// UUID or PCI address. Fills only `index` and `complaint`; the index is empty
// if the annotation and Slurm's GRES do not agree.
NodeDevices hybrid_devices(const DeviceFacts &facts, const Node &node,
                           const SlurmNode &known);

} // namespace bridge
