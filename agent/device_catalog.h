// SPDX-License-Identifier: GPL-2.0-or-later
// The devices of the cluster as Slurm counts them: which GRES answers a request,
// and which device an index of a node stands for. k8s.conf says the GRES of each
// DeviceClass (DeviceGres). Pure.
#pragma once

#include "agent/claim_check.h"
#include "agent/device_index.h"
#include "agent/device_slices.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

struct DeviceCatalog {
    DeviceClasses classes;
    std::vector<DevicePool> pools;
    std::map<std::string, DeviceIndex> nodes; // by Slurm's name
    std::map<std::string, std::string> gres;  // by DeviceClass: "gpu"
};

// What a job asks Slurm for to get a device. A type only where no other type of
// the GRES has a device that will do.
struct GresWish {
    std::string gres;
    std::string type;   // empty: any
    bool exact = false; // whatever device of it Slurm chooses will do; else the
                        // choice is to be checked once Slurm has made it

    bool operator==(const GresWish &) const = default;
};

// For one device of the request: of the GRES of its class, else of the one that
// has most devices that will do. Code::not_found, with a clause for the Pod's
// owner, when no device of any node will do or the class has no GRES;
// Code::rejected when that cannot be told: see why_unfit(). Looks at every device.
Result<GresWish> gres_for(const DeviceCatalog &catalog,
                          const DeviceRequest &request);

// Null when the index stands for no device that is there.
DevicePtr device_at(const DeviceCatalog &catalog, const std::string &slurm_node,
                    const GresIndex &where);

} // namespace bridge
