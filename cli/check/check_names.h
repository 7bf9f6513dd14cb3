// SPDX-License-Identifier: GPL-2.0-or-later
// What k8s.conf and the annotations of namespaces name of Slurm: is it there,
// and large enough? Pure.
#pragma once

#include "agent/objects/objects.h"
#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <vector>

namespace bridge {

// MaxPendingJobs beside MaxJobCount.
Findings check_pending_jobs(const SlurmFacts &slurm, const Conf &conf);

// QoS of PriorityClass= and of namespaces, as far as slurmdbd has said its own.
Findings check_qos(const SlurmFacts &slurm, const Conf &conf,
                   const std::vector<Namespace> &namespaces);

} // namespace bridge
