// SPDX-License-Identifier: GPL-2.0-or-later
// Converts libslurm's errno to an Error with Slurm's own message.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

// error is what libslurm has left in errno after a call that failed.
std::unexpected<Error> fail_slurm(int error, const std::string &doing);

} // namespace bridge
