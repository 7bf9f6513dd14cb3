// SPDX-License-Identifier: GPL-2.0-or-later
// The devices of the cluster as Slurm counts them: which GRES answers a
// request, and which device an index of a node stands for. k8s.conf says the
// GRES of each DeviceClass (DeviceGres). Pure.
#pragma once

#include "agent/claims/check.h"
#include "agent/claims/cpu_devices.h"
#include "agent/claims/pools.h"
#include "agent/gres/amounts.h"
#include "agent/gres/index.h"
#include "agent/gres/plugin_resources.h"
#include "common/contract/device_gres.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct DeviceCatalog {
    DeviceClasses classes;
    std::vector<DevicePool> pools;
    std::map<std::string, DeviceIndex> nodes; // by Slurm's name
    NodeCpus cpus; // of external nodes that have their feature in Slurm
    std::map<std::string, std::string> gres; // by DeviceClass: "gpu"
    std::vector<CapacityGres> counted;       // DeviceCapacity
    // How many each node has of what that names, by Slurm's name.
    std::map<std::string, GresCounts> amounts;
    PluginGres
        plugins; // what is one of device plugins, where no class offers it
};

// What a job asks Slurm for to get a device. A type only where no other type of
// the GRES has a device that will do.
struct GresWish {
    // cpu_gres: a CPU, and no GRES; empty: a share, of which only amounts are
    // counted.
    std::string gres;
    std::string type;   // empty: any
    bool exact = false; // whatever device of it Slurm chooses will do; else the
                        // choice is to be checked once Slurm has made it
    GresCounts amounts{}; // of GRES without indexes, for each device

    bool operator==(const GresWish &) const = default;
};

// For one device of the request: of the GRES of its class, else of the one that
// has most devices that will do, else a share. Where what is counted without
// indexes differs by type it is the type that takes least; within one, and of
// shares, the most that any device would take. Code::not_found, with a clause
// for the Pod's owner, when no device of any node will do or the class has no
// GRES; Code::rejected when that cannot be told, also once the budget is spent:
// see why_unfit(). Looks at every device.
Result<GresWish> gres_for(const DeviceCatalog &catalog,
                          const DeviceRequest &request, CelBudget &budget);

// Null when the index stands for no device that is there.
DevicePtr device_at(const DeviceCatalog &catalog, const std::string &slurm_node,
                    const GresIndex &where);

} // namespace bridge
