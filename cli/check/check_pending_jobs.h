// SPDX-License-Identifier: GPL-2.0-or-later
// The finding of slurmk8s check about the room that waiting Pods leave in
// slurmctld's table of jobs. Pure.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

namespace bridge {

// Compares MaxPendingJobs with MaxJobCount.
Findings check_pending_jobs(const SlurmFacts &slurm, const Conf &conf);

} // namespace bridge
