// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of the Pods of a batch job that slurmctld, after a crash, has
// placed anew before the script was on a node: the job is one without Pods
// again, and make_batch_pod() finds what is there by its name. On a worker, and
// safe to repeat; the errors are those of the calls.
//
// So it does not matter that the tag may be written by what the job was before:
// each Pod says for which node it was made (is_made_for_others()). The script
// is told of more, such as when its job began: of one Pod alone that is told
// anew, too, where the owner thread hears that slurmctld took the node back.
// One that an earlier agent made says no node: for that one this is all.
#pragma once

#include "agent/act/act.h"

namespace bridge {

// The job as it is now has another node, or none, than that by which it was
// known when the script of its only Pod was told; that Pod waits.
bool is_told_of_others(const Gang &gang, const Job &now);

// Done: the job names no Pod any more.
Result<Outcome> take_name_off(const Gang &gang, const Job &now, Slurm &slurm);

// The same, and workers that are on a node by this job end. Looked: its nodes
// are not those for which this was decided; StillThere: the script may run.
Result<Outcome> take_pods_away(const Gang &gang, Slurm &slurm, Kube &kube);

} // namespace bridge
