// SPDX-License-Identifier: GPL-2.0-or-later
// What of devices Slurm counts that many have a part of, and as what:
// DeviceCapacity of k8s.conf. Agent and slurmk8s agree by this file. Pure.
#pragma once

#include "common/base/quantity.h"
#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// A capacity of devices that are given in shares, or a counter from which
// partitions of a device take: counted by a GRES without indexes.
struct CapacityGres {
    std::string driver;
    std::string name; // as the driver's slices have it: "memory"
    std::string gres; // "gpumem"
    Quantity unit;    // one of the GRES is so much of it

    bool operator==(const CapacityGres &) const = default;
};

// DRIVER/NAME:GRES[:UNIT],…; UNIT is 1 by default. Code::rejected: none of
// these, one DRIVER/NAME twice, or a GRES of Slurm's own for shares.
Result<std::vector<CapacityGres>> parse_capacity_gres(std::string_view text);

} // namespace bridge
