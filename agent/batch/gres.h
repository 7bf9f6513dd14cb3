// SPDX-License-Identifier: GPL-2.0-or-later
// Translates the GRES of a batch job into what its container requests: extended
// resources of the DeviceClasses that DeviceGres in k8s.conf names. From then
// on they are handled like those of any Pod: one ResourceClaim with the devices
// of the job's GRES indexes. Pure functions.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/result.h"
#include "common/contract/device_gres.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

// Returns the count of each extended resource, by resource name. The result is
// empty for a job that requested no GRES, even if it was allocated some
// (--exclusive). Code::rejected, with a message for the job's owner, when Pods
// cannot get the allocated GRES; Code::busy when Slurm says that GRES were
// allocated but not which.
Result<std::map<std::string, std::uint64_t>>
batch_devices(const BatchJob &batch, const std::vector<DeviceGres> &known);

// Returns SLURM_JOB_GPUS and SLURM_GPUS_ON_NODE as slurmd sets them, each as
// NAME=VALUE. CUDA_VISIBLE_DEVICES and similar variables are left to the
// container runtime, which numbers the devices that the container sees.
std::vector<std::string> gpu_variables(const BatchJob &batch);

} // namespace bridge
