// SPDX-License-Identifier: GPL-2.0-or-later
// DeviceCapacity in k8s.conf: for devices that are shared, which capacity Slurm
// counts as which GRES. The agent and slurmk8s share this file. Pure.
#pragma once

#include "common/base/quantity.h"
#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// A capacity of devices that are handed out in shares, or a counter from which
// the partitions of a device take. Slurm counts it as a GRES without indexes.
struct CapacityGres {
    std::string driver;
    std::string name; // as in the driver's slices: "memory"
    std::string gres; // "gpumem"
    Quantity unit;    // how much of the capacity one GRES stands for

    bool operator==(const CapacityGres &) const = default;
};

// Parses DRIVER/NAME:GRES[:UNIT],…; UNIT is 1 by default. Code::rejected if an
// entry has another form, if a DRIVER/NAME occurs twice, or for the GRES with
// which Slurm itself shares GPUs (shard, mps).
Result<std::vector<CapacityGres>> parse_capacity_gres(std::string_view text);

} // namespace bridge
