// SPDX-License-Identifier: GPL-2.0-or-later
// How the first Pod of a gang ended while its job ran. It is noted as soon as
// it is seen, because Pods may be deleted before slurmctld takes the end of the
// job. This function alone writes failure and failed_pod of a Gang, but for a
// new job, which has neither.
#pragma once

#include "agent/gang/gang.h"

namespace bridge {

// Of a batch job: once batch is derived.
void record_ends(Gang &gang);

} // namespace bridge
