// SPDX-License-Identifier: GPL-2.0-or-later
// Handles the Pods of a batch job that slurmctld has placed on other nodes
// after a crash, before its script was on a node: the job becomes a job without
// Pods again, and make_batch_pod() finds existing Pods by their names. Runs on
// a worker thread and is safe to repeat; the errors are those of the calls.
//
// The tag may therefore be written on a job that has changed: each Pod names
// the node that it was created for (is_made_for_others()). The script is also
// told other facts, such as when its job began. A single Pod is told these anew
// if the owner thread learns that slurmctld took the node back. A Pod of an
// earlier version of the agent names no node: for it only this second check
// applies.
#pragma once

#include "agent/act/act.h"

namespace bridge {

// Whether the job now has another node, or none, than when the script of its
// only Pod was told its facts, while that Pod still waits.
bool is_told_of_others(const Gang &gang, const Job &now);

// Returns Done: the job names no Pod any more.
Result<Outcome> remove_tag(const Gang &gang, const Job &now, Slurm &slurm);

// The same, and ends workers that this job has put on nodes. Returns Looked if
// the job's nodes are not those for which this was decided, StillThere if the
// script may run.
Result<Outcome> delete_workers(const Gang &gang, Slurm &slurm, Kube &kube);

} // namespace bridge
