// SPDX-License-Identifier: GPL-2.0-or-later
// The findings of slurmk8s check about names that k8s.conf and the annotations
// of namespaces take from Slurm: QoS that must exist, and users that must have
// an association. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <vector>

namespace bridge {

// Checks the QoS of PriorityClass= and of namespaces, if slurmdbd has listed
// its own.
Findings check_qos(const SlurmFacts &slurm, const Conf &conf,
                   const std::vector<Namespace> &namespaces);

// Checks that SlurmUser, DefaultUser and the users of namespaces have an
// association, if AccountingStorageEnforce asks for one.
Findings check_associations(const SlurmFacts &slurm, const Conf &conf,
                            const std::vector<Namespace> &namespaces);

} // namespace bridge
