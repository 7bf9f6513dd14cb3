// SPDX-License-Identifier: GPL-2.0-or-later
// Resources of device plugins, such as nvidia.com/gpu where a kubelet counts
// it. Slurm counts them as the GRES that DeviceGres of k8s.conf says. A
// resource is a device plugin's where DeviceGres names it and no DeviceClass
// offers it, on all Nodes alike: one that a DeviceClass offers is had by a
// claim.
//
// Such devices have numbers only: which of them a container gets its kubelet
// decides, whatever index Slurm has chosen. What has to be right is how many,
// so one index is as good as another. On a node with a slurmd that will not do,
// since slurmd gives its jobs the device of their index: no Pod gets a device
// plugin's device there. Pure.
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

// What DeviceGres says of resources, by resource.
using PluginGres = std::map<std::string, DeviceGres>;

// What a Pod needs of one, as a kubelet counts it.
struct PluginWish {
    std::string resource;
    std::string gres;
    std::string type;
    std::int64_t count = 0; // above 0

    bool operator==(const PluginWish &) const = default;
};

// Adds the devices that the Node's kubelet counts of that resource, and that
// their pool is known.
void add_plugin_devices(DevicesNow &now, const DeviceGres &wanted,
                        const Node &node);
bool is_of_plugin(const DeviceId &device);

// The node counts GRES for that resource.
bool is_counted(const DeviceIndex &index, const PluginWish &wish);

// Why what a job has on a node does not suffice for all of these, as a clause;
// empty: it does.
std::string why_too_few(const DeviceIndex &index,
                        const std::vector<JobGres> &given,
                        const std::vector<PluginWish> &wishes);

// What Slurm counts on the node, by "gpu:a100" as has says it, and its device
// plugins do not offer now: less of what its kubelet has, or taken by Pods of
// other schedulers.
std::map<std::string, std::uint32_t>
missing_plugin_gres(const DeviceIndex &index,
                    const std::vector<GresCount> &has);

} // namespace bridge
