// SPDX-License-Identifier: GPL-2.0-or-later
// The one look that our plugins take into slurmctld's opaque job records.
#pragma once

#include "plugins/shared/job_facts.h"

namespace bridge {

// slurmd and slurmstepd load prep/k8s too, and have no jobs to ask about.
bool inside_slurmctld();

// Copies what we need of a job_record_t; the caller holds slurmctld's job lock.
// Only inside slurmctld.
JobFacts facts_of(void *job);

} // namespace bridge
