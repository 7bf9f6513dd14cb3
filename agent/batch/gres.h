// SPDX-License-Identifier: GPL-2.0-or-later
// The GRES of a batch job as its container asks for them: as extended resources
// of the DeviceClasses that k8s.conf's DeviceGres has for them. From then on
// they are what any Pod's are: one claim, with the devices of the job's GRES
// indexes. Pure.
#pragma once

#include "agent/gang/batch_mark.h"
#include "common/base/result.h"
#include "common/contract/device_gres.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bridge {

// By the resource's name. Nothing for a job that asked for none, whatever it
// was given (--exclusive). Code::rejected, in words for the job's owner, where
// Pods cannot get what it was given; Code::busy where Slurm says that it was
// given some, and not what, or in a way that is not understood.
Result<std::map<std::string, std::uint64_t>>
batch_devices(const BatchJob &batch, const std::vector<DeviceGres> &known);

// SLURM_JOB_GPUS and SLURM_GPUS_ON_NODE, as slurmd has them. What a container
// sees is numbered by its runtime, so that CUDA_VISIBLE_DEVICES and the like
// are not ours to set.
std::vector<std::string> gpu_variables(const BatchJob &batch);

} // namespace bridge
