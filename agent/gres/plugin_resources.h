// SPDX-License-Identifier: GPL-2.0-or-later
// Resources of device plugins, such as nvidia.com/gpu where a kubelet counts
// it. Slurm counts them as the GRES that DeviceGres of k8s.conf assigns. A
// resource belongs to a device plugin if DeviceGres names it and no DeviceClass
// offers it, on all Nodes alike: a resource that a DeviceClass offers is
// allocated by a claim.
//
// Such devices have only numbers: the kubelet decides which of them a container
// gets, whatever index Slurm has chosen. Only the count must be right, so all
// indexes are equivalent. This does not work on a node with a slurmd, which
// gives its jobs the devices of their indexes: no Pod gets a device plugin's
// device there. Pure.
#pragma once

#include "agent/gres/index.h"
#include "agent/objects/plugin_offer.h"
#include "common/contract/device_gres.h"
#include "common/slurm/job_gres.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The entries of DeviceGres for resources, by resource.
using PluginGres = std::map<std::string, DeviceGres>;

// What a Pod needs of one resource, as a kubelet counts it.
struct PluginWish {
    std::string resource;
    std::string gres;
    std::string type;
    std::int64_t count = 0; // above 0

    bool operator==(const PluginWish &) const = default;
};

// Adds the devices of the resource that the Node's kubelet counts, and marks
// their pool as known.
void add_plugin_devices(DevicesNow &now, const DeviceGres &wanted,
                        const Node &node);
bool is_of_plugin(const DeviceId &device);

// Returns true if the node counts GRES for that resource.
bool is_counted(const DeviceIndex &index, const PluginWish &wish);

// Returns why the GRES of a job on a node do not suffice for all these
// resources, as a clause, or an empty text.
std::string too_few_devices_reason(const DeviceIndex &index,
                                   const std::vector<JobGres> &given,
                                   const std::vector<PluginWish> &wishes);

// Returns, by "gpu:a100", how many of the GRES in has the node's device plugins
// do not offer now: the kubelet has fewer devices, or Pods of other schedulers
// have taken them.
std::map<std::string, std::uint32_t>
missing_plugin_gres(const DeviceIndex &index,
                    const std::vector<GresCount> &has);

} // namespace bridge
