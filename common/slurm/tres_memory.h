// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory in a list of TRES, as slurmctld prints what a job was
// allocated:
//
//    cpu=2,mem=62.50G,node=1,billing=2
//
// The number is in MiB if it has no unit, and may have decimals. Pure.
#pragma once

#include "common/base/result.h"
#include "common/base/units.h"

#include <string_view>

namespace bridge {

// Returns 0 if the list has no memory: Slurm does not manage memory then.
// Code::internal if the value cannot be parsed; then nothing may be concluded
// from it.
Result<MebiBytes> tres_memory(std::string_view tres);

} // namespace bridge
