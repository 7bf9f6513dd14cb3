// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices of Kubernetes Slurm counts, and as what: DeviceGres of
// k8s.conf. Agent and slurmk8s agree by this file. Pure.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Instead of a GRES: the devices are CPUs, which Slurm counts by itself.
inline constexpr char cpu_gres[] = "cpu";

struct DeviceGres {
    std::string
        name; // a DeviceClass, or a resource that a device plugin offers
    std::string gres; // "gpu"
    std::string type; // "a100"; of CPUs empty

    // A resource's name is DOMAIN/NAME; no DeviceClass has a '/'.
    bool is_resource() const { return name.find('/') != name.npos; }
    bool is_cpus() const { return gres == cpu_gres; }
    bool operator==(const DeviceGres &) const = default;
};

// NAME:GRES[:TYPE],…; TYPE is by default NAME, with '-' for '/'; or CLASS:cpu.
// Code::rejected: none of these, or one NAME twice.
Result<std::vector<DeviceGres>> parse_device_gres(std::string_view text);

// As DeviceGres= has them.
std::string text_of(const std::vector<DeviceGres> &list);

} // namespace bridge
