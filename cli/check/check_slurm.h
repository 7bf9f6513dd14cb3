// SPDX-License-Identifier: GPL-2.0-or-later
// The settings of Slurm that bite (doc/admin/configure.md has the table), each
// looked at by a function of its own. Pure.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <set>
#include <string>

namespace bridge {

// slurm.conf as a whole.
Findings check_version(const SlurmFacts &slurm);
Findings check_plugins(const SlurmFacts &slurm);
// nodes: how many Nodes Kubernetes offers that Slurm does not have yet.
Findings check_node_table(const SlurmFacts &slurm, std::size_t nodes);
Findings check_job_age(const SlurmFacts &slurm);
Findings check_select(const SlurmFacts &slurm);
Findings check_scheduler(const SlurmFacts &slurm);
Findings check_limits(const SlurmFacts &slurm);
// What DeviceGres and DeviceCapacity in k8s.conf name and GresTypes does not.
Findings check_gres_types(const SlurmFacts &slurm, const Conf &conf);
// What job arrays of sbatch --k8s-image need, where that is on.
Findings check_pod_arrays(const SlurmFacts &slurm, const Conf &conf);
Findings check_power_saving(const SlurmFacts &slurm);
Findings check_accounting(const SlurmFacts &slurm);

// The partitions that have nodes for Pods, and those that are named for them:
// by k8s.conf (Partition=) and by the Nodes (the annotation).
Findings check_partitions(const SlurmFacts &slurm, const Conf &conf,
                          const std::set<std::string> &named_by_nodes);

} // namespace bridge
