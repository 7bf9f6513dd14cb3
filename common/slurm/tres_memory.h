// SPDX-License-Identifier: GPL-2.0-or-later
// The memory in a list of TRES, as slurmctld prints what a job was given:
//
//     cpu=2,mem=62.50G,node=1,billing=2
//
// In MiB without a unit; halves of a unit are printed too. Pure.
#pragma once

#include "common/base/result.h"
#include "common/base/units.h"

#include <string_view>

namespace bridge {

// 0 where the list names none: Slurm does not manage memory there.
// Code::internal for what is not so: nothing may be concluded from it.
Result<MebiBytes> tres_memory(std::string_view tres);

} // namespace bridge
