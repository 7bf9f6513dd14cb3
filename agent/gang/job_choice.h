// SPDX-License-Identifier: GPL-2.0-or-later
// Which of several jobs of one gang is its job, and what another one is to its
// Pods. There may be several after a submit whose answer was lost, after a
// crash, or while one replaces another. Pure.
#pragma once

#include "agent/gang/gang.h"

#include <vector>

namespace bridge {

// jobs: oldest first. Null: none of them belongs to the present Pods, or says
// anything about them.
const Job *choose_job(const Gang &gang, const std::vector<Job> &jobs);

// Whether the job bound one of the Pods.
bool is_binder(const Gang &gang, const Job &job);

// Whether the job does not have the nodes of the Pods that it bound: after a
// crash it waits again, or slurmctld has placed it elsewhere since.
bool lost_allocation(const Gang &gang, const Job &job);

} // namespace bridge
