// SPDX-License-Identifier: GPL-2.0-or-later
// The only access of our plugins to slurmctld's opaque job records.
#pragma once

#include "plugins/shared/job_facts.h"

namespace bridge {

// Tells whether this process is slurmctld. slurmd and slurmstepd load prep/k8s
// too, and have no job records.
bool inside_slurmctld();

// Copies what we need of a job_record_t. The caller holds slurmctld's job lock,
// so this asks nobody, not even the user database (packed_job.h). Only call
// this inside slurmctld.
JobFacts facts_of(void *job);

} // namespace bridge
