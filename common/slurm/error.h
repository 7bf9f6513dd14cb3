// SPDX-License-Identifier: GPL-2.0-or-later
// libslurm's errno as an Error, with Slurm's own words.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

// For error, as libslurm left it in errno by a call that failed.
std::unexpected<Error> fail_slurm(int error, const std::string &doing);

} // namespace bridge
