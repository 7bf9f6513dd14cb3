// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses of a connection between Pods, as both sides see them.
#pragma once

#include "cli/srun/proof.h"

namespace bridge {

// Returns the address of this end of a connected socket, or zeros if it has
// none.
StepAddress own_address(int socket);

// Returns the address of the other end, to which this process connected.
StepAddress other_address(int socket);

} // namespace bridge
