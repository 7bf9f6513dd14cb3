// SPDX-License-Identifier: GPL-2.0-or-later
// The ends of a connection between Pods, as both of them know them.
#pragma once

#include "cli/srun/proof.h"

namespace bridge {

// The address of this end of a connected socket; zeros when it has none.
StepAddress own_address(int socket);

// Of the other end: the one that this process connected to.
StepAddress other_address(int socket);

} // namespace bridge
