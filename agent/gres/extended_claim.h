// SPDX-License-Identifier: GPL-2.0-or-later
// The one ResourceClaim behind a Pod's extended resources, which the scheduler
// makes: kube-scheduler's, as enhancement 5004 has it. Its name is made from
// the Pod's uid, so that whoever makes it a second time finds it there. Pure.
//
//   there is                         what follows
//   -------------------------------  -----------------------------------------
//   no DeviceClass behind one of     it is a device plugin's, of which no claim
//   the resources                    is needed (plugin_resources.h); objection
//                                    where DeviceGres does not name it either
//   no claim                         one is to be made, when its Pod has a node
//   one that was not made for these, wait; it is removed while the Pod has no
//   or is being deleted              node
//   one as it would be made now      that
#pragma once

#include "agent/claims/check.h"
#include "agent/gres/plugin_resources.h"
#include "agent/objects/objects.h"

#include <string>
#include <vector>

namespace bridge {

// A claim can have so many requests, and so many devices: the API server's.
inline constexpr std::size_t max_claim_requests = 32;
inline constexpr std::int64_t max_claim_devices = 32;

struct ExtendedNeeds {
    std::string objection; // why it never can, as a clause; empty: it may
    std::string why; // why it has to wait, as a sentence; empty: it need not
    // As it is, or as it is to be made; null: none is needed, or none can be
    // had.
    ResourceClaimPtr claim;
    std::string body;                     // what makes it; empty: it is there
    std::vector<RequestMapping> mappings; // in kube-scheduler's order
    std::vector<PluginWish> plugins;      // by resource
};

ObjectKey extended_claim_key(const Pod &pod);

// It was made for that Pod's extended resources.
bool is_extended_claim(const ResourceClaim &claim, const Pod &pod);

// It asks for what the claim that the body makes asks for, and for nothing
// else: its owner may have made it in our place.
bool asks_as(const ResourceClaim &claim, const std::string &body);

// In place of the uid of a claim that is yet to be made for that Pod.
std::string uid_until_made(const std::string &pod_uid);

// Null: none offers that resource. Of several the newest does, and of these the
// first by name.
const DeviceClass *class_behind(const DeviceClasses &classes,
                                const std::string &resource);

// Whether a claim stands for any of what the Pod asks for, or might if there
// were a DeviceClass.
bool wants_extended_claim(const Pod &pod, const DeviceClasses &classes,
                          const PluginGres &plugins);

// there: the claim of that key; null: there is none.
ExtendedNeeds extended_needs(const Pod &pod, const DeviceClasses &classes,
                             const ResourceClaimPtr &there,
                             const PluginGres &plugins = {});

// Why a Pod with these needs cannot have them on a Node, as a clause: one that
// has a claim behind it, since a kubelet does not look into that where its
// device plugins offer the resource; a device plugin's that is not offered
// there, or on a node with a slurmd. Empty: it can.
std::string why_no_device_there(const ExtendedNeeds &needs, const Node &node,
                                bool has_slurmd);

} // namespace bridge
