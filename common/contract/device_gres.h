// SPDX-License-Identifier: GPL-2.0-or-later
// DeviceGres in k8s.conf: which Kubernetes devices Slurm counts, and as which
// GRES. The agent and slurmk8s share this file. Pure.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Instead of a GRES: the devices are CPUs, which Slurm counts anyway.
inline constexpr char cpu_gres[] = "cpu";

struct DeviceGres {
    std::string name; // DeviceClass or resource of a device plugin
    std::string gres; // "gpu"
    std::string type; // "a100"; empty for CPUs

    // The name of a resource is DOMAIN/NAME; a DeviceClass has no '/'.
    bool is_resource() const { return name.find('/') != name.npos; }
    bool is_cpus() const { return gres == cpu_gres; }
    bool operator==(const DeviceGres &) const = default;
};

// Parses NAME:GRES[:TYPE],… or CLASS:cpu. By default TYPE is NAME with '/'
// replaced by '-'. Code::rejected if an entry has another form, or if a NAME
// occurs twice.
Result<std::vector<DeviceGres>> parse_device_gres(std::string_view text);

// Returns the list in the form of DeviceGres=.
std::string text_of(const std::vector<DeviceGres> &list);

} // namespace bridge
