// SPDX-License-Identifier: GPL-2.0-or-later
// The settings of Slurm that matter (listed in doc/admin/configure.md), each
// checked by a function of its own. Pure functions.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <set>
#include <string>

namespace bridge {

// Checks of slurm.conf as a whole.
Findings check_version(const SlurmFacts &slurm);
Findings check_plugins(const SlurmFacts &slurm);
// nodes is the number of Nodes that Kubernetes offers and Slurm does not have
// yet.
Findings check_node_table(const SlurmFacts &slurm, std::size_t nodes);
Findings check_job_age(const SlurmFacts &slurm);
Findings check_select(const SlurmFacts &slurm);
Findings check_scheduler(const SlurmFacts &slurm);
Findings check_limits(const SlurmFacts &slurm);
// Finds GRES that DeviceGres or DeviceCapacity in k8s.conf names and GresTypes
// does not.
Findings check_gres_types(const SlurmFacts &slurm, const Conf &conf);
// Finds what job arrays of sbatch --k8s-image lack, if that feature is on.
Findings check_pod_arrays(const SlurmFacts &slurm, const Conf &conf);
Findings check_power_saving(const SlurmFacts &slurm);
Findings check_accounting(const SlurmFacts &slurm);

// Checks the partitions that have nodes for Pods, and those that are named for
// Pods by k8s.conf (Partition=) or by Nodes (the annotation).
Findings check_partitions(const SlurmFacts &slurm, const Conf &conf,
                          const std::set<std::string> &named_by_nodes);

// Checks the partitions of the Burst lines in k8s.conf.
Findings check_bursts(const SlurmFacts &slurm, const Conf &conf);

} // namespace bridge
