// SPDX-License-Identifier: GPL-2.0-or-later
// Bursting inside slurmctld, which holds its job lock during the calls: adds
// partitions to plain batch jobs by the Burst lines of k8s.conf.
#pragma once

#include "plugins/job_submit/node_view.h"

#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// Changes the partition of the job if a rule adds others to it, and returns the
// sentence for the user. Leaves all other jobs unchanged and returns an empty
// text. view: null if there is no recent one; then no job is changed.
std::string add_burst_partitions(job_desc_msg_t &desc, const NodeView *view);

} // namespace bridge
