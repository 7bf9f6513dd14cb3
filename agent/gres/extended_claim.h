// SPDX-License-Identifier: GPL-2.0-or-later
// The one ResourceClaim behind a Pod's extended resources, which the scheduler
// creates as kube-scheduler does (Kubernetes enhancement 5004). Its name is
// derived from the Pod's uid, so that creating it a second time finds the
// first. Pure.
//
//   there is                         consequence
//   -------------------------------  -----------------------------------------
//   no DeviceClass for a resource    it is a device plugin's, which needs no
//                                    claim (plugin_resources.h); the Pod is
//                                    refused if DeviceGres does not name it
//   no claim                         one is created when the Pod has a node
//   one that was not made for these  wait; it is removed while the Pod has no
//   resources, or is being deleted   node
//   one as it would be created now   it is used
#pragma once

#include "agent/claims/check.h"
#include "agent/gres/plugin_resources.h"
#include "agent/objects/objects.h"

#include <string>
#include <vector>

namespace bridge {

// The API server's limits for the requests and the devices of a claim.
inline constexpr std::size_t max_claim_requests = 32;
inline constexpr std::int64_t max_claim_devices = 32;

struct ExtendedNeeds {
    std::string unfit_reason; // clause: why the Pod can never run; or empty
    std::string reason;       // message: why the Pod has to wait; or empty
    // The claim, as it is or as it is to be created. Null: no claim is needed,
    // or none is possible.
    ResourceClaimPtr claim;
    std::string body;                     // creates the claim; empty: it exists
    std::vector<RequestMapping> mappings; // in kube-scheduler's order
    std::vector<PluginWish> plugins;      // sorted by resource
};

ObjectKey extended_claim_key(const Pod &pod);

// Returns true if the claim was created for that Pod's extended resources.
bool is_extended_claim(const ResourceClaim &claim, const Pod &pod);

// Returns true if the claim requests exactly what the claim in the body
// requests. The owner of the Pod may have created it in our place.
bool asks_as(const ResourceClaim &claim, const std::string &body);

// Returns the text that stands for the uid of the Pod's claim until that claim
// exists.
std::string uid_until_made(const std::string &pod_uid);

// Returns the DeviceClass that offers the resource: the newest, and of equally
// old ones the first by name. Null: no class offers it.
const DeviceClass *class_behind(const DeviceClasses &classes,
                                const std::string &resource);

// Returns true if some extended resource of the Pod needs a claim, or would
// need one if there were a DeviceClass for it.
bool wants_extended_claim(const Pod &pod, const DeviceClasses &classes,
                          const PluginGres &plugins);

// there: the existing claim of extended_claim_key(), or null.
ExtendedNeeds extended_needs(const Pod &pod, const DeviceClasses &classes,
                             const ResourceClaimPtr &there,
                             const PluginGres &plugins = {});

// Returns why a Pod with these needs cannot run on a Node, as a clause, or an
// empty text. A resource with a claim does not work where the Node's device
// plugins offer it, since the kubelet ignores the claim there. A device
// plugin's resource does not work where it is not offered, or on a node with a
// slurmd.
std::string no_device_reason(const ExtendedNeeds &needs, const Node &node,
                             bool has_slurmd);

} // namespace bridge
