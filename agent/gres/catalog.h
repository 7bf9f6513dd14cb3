// SPDX-License-Identifier: GPL-2.0-or-later
// The devices of the cluster as Slurm counts them: which GRES serves a request,
// and which device an index of a node stands for. DeviceGres in k8s.conf
// assigns a GRES to each DeviceClass. Pure.
#pragma once

#include "agent/claims/check.h"
#include "agent/claims/cpu_devices.h"
#include "agent/claims/pools.h"
#include "agent/gres/amounts.h"
#include "agent/gres/index.h"
#include "agent/gres/plugin_resources.h"
#include "common/contract/device_gres.h"

#include <compare>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bridge {

struct DeviceCatalog {
    DeviceClasses classes;
    std::vector<DevicePool> pools;
    std::map<std::string, DeviceIndex> nodes; // by name of the Slurm node
    // Of external nodes that have names::cpu_devices_feature in Slurm.
    NodeCpus cpus;
    std::map<std::string, std::string> gres; // by DeviceClass, such as "gpu"
    std::vector<CapacityGres> counted;       // DeviceCapacity
    // The amounts of each node, by name of the Slurm node.
    std::map<std::string, GresCounts> amounts;
    // How many indexes of each GRES Slurm has on each of `nodes`, and how many
    // of each type: the first ones.
    std::map<std::string, GresCounts> index_counts;
    PluginGres plugins; // of DeviceGres; ignored for what a DeviceClass offers
};

// What a job requests from Slurm to get a device. A type is only set if no
// other type of the GRES has a suitable device, or if it consumes least of what
// is counted without indexes.
struct GresWish {
    // cpu_gres: a CPU and no GRES. Empty: a share, for which only amounts are
    // counted.
    std::string gres;
    std::string type; // empty: any
    // True: any device of it suits; false: Slurm's choice must be checked.
    bool exact = false;
    GresCounts amounts{}; // per device, of GRES without indexes

    bool operator==(const GresWish &) const = default;
};

// A GRES and a type of it, as in a node's Gres=.
struct DeviceKind {
    std::string gres; // cpu_gres: a CPU and no GRES
    std::string type;

    auto operator<=>(const DeviceKind &) const = default;
};

// As what Slurm counts each device of a catalog; a device that is not in here
// has no index. The keys are valid as long as the catalog.
using DeviceKinds = std::unordered_map<const Device *, DeviceKind>;

// Looks at every index and every device: to be called once for a catalog.
DeviceKinds kinds_of(const DeviceCatalog &catalog);

// Returns what to request for one device of the request: the GRES of its class;
// else the GRES with the most suitable devices; else a share. If amounts
// without indexes differ by type, the type that takes least is chosen; within a
// type, and for shares, the amounts are the most that any suitable device would
// take. Code::not_found, with a clause for the Pod's owner, if no device of any
// node suits or the class has no GRES. Code::rejected if that cannot be
// decided, also once the budget is spent: see unfit_device_reason(). Checks
// every device. kinds: kinds_of() this catalog.
Result<GresWish> gres_for(const DeviceCatalog &catalog,
                          const DeviceKinds &kinds,
                          const DeviceRequest &request, CelBudget &budget);

// Returns the device behind an index, or null if there is none or it is absent.
DevicePtr device_at(const DeviceCatalog &catalog, const std::string &slurm_node,
                    const GresIndex &where);

} // namespace bridge
