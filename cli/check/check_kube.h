// SPDX-License-Identifier: GPL-2.0-or-later
// The findings of slurmk8s check about Kubernetes. Pure functions, except that
// users are looked up in the host's user database, as the agent does.
#pragma once

#include "agent/objects/objects.h"
#include "cli/check/finding.h"
#include "cli/check/kube_facts.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <set>
#include <string>

namespace bridge {

Findings check_kube_version(const KubeFacts &kube);
Findings check_identity(const KubeFacts &kube);
Findings check_clock(const KubeFacts &kube);
Findings check_rights(const KubeFacts &kube);
Findings check_policies(const KubeFacts &kube, const Conf &conf);
Findings check_namespaces(const KubeFacts &kube, const Conf &conf);

// Reports the Pods on Slurm's Nodes for which no job stands, by namespace.
Findings check_outside_pods(const KubeFacts &kube);

// Compares Nodes with Slurm nodes: names, sizes, and what is missing on either
// side.
Findings check_nodes(const KubeFacts &kube, const SlurmFacts &slurm);

// Returns the number of labelled Nodes that Slurm does not have yet.
std::size_t count_new_nodes(const KubeFacts &kube, const SlurmFacts &slurm);
// Returns the partitions named by the annotation on labelled Nodes.
std::set<std::string> partitions_of_nodes(const KubeFacts &kube);

} // namespace bridge
