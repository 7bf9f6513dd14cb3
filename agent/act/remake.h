// SPDX-License-Identifier: GPL-2.0-or-later
// Handles the Pods of a batch job that slurmctld has placed on other nodes
// after a crash, before its script was on a node. The job's tag then names no
// Pod any more, and make_batch_pod() finds the existing Pods by their names.
// These functions run on a worker thread and are safe to repeat; their errors
// are those of the calls that they make.
//
// It does no harm if slurmctld places the job anew while the tag is written:
// each Pod names the node that it was created for, and is checked by that
// (is_made_for_others()). The script of a single Pod is also told other facts,
// such as when its job began. It is told these anew if the owner thread learns
// that slurmctld took the node back (is_told_of_others()). A Pod of an earlier
// version of the agent names no node, so only this second check applies to it.
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
