// SPDX-License-Identifier: GPL-2.0-or-later
// How the job of a gang ends, by how its Pods have ended: the wait status, and
// the reason that goes into the job's comment. The first row that holds for a
// Pod, in the order of the Pods:
//
//   what is seen                                  status       reason
//   deleted after a disruption was noted          exit code 1  the disruption
//   a batch job's container was OOMKilled         253          OOMKilled
//   Failed, a container was OOMKilled             253          Pod's, or that
//   Failed, a container was ended by a signal     the signal   Pod's, or its
//   Failed, a container ended with an exit code   that code    Pod's, or its
//   Failed, no container did (evicted, refused)   exit code 1  Pod's
//   none of these                                 0            none
//
// slurmctld makes the state of the job from the status alone (job_complete in
// its job_mgr.c): 0 is COMPLETED, 253 is OUT_OF_MEMORY, any other is FAILED.
// Whatever else a user shall see has to be in the reason. Pure.
#pragma once

#include "agent/gang/gang.h"

namespace bridge {

// Returns how a gang ended. Requires that every Pod is terminal.
End end_of(const Gang &gang);

} // namespace bridge
