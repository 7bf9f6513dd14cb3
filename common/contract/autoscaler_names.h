// SPDX-License-Identifier: GPL-2.0-or-later
// What autoscalers read and write on Pods and Nodes.
#pragma once

namespace bridge::names {

// The reason of the condition PodScheduled for which autoscalers make Nodes.
inline constexpr char unschedulable[] = "Unschedulable";

// On a Node while Slurm has jobs there: Karpenter has the same annotation as on
// a Pod (names.h), cluster-autoscaler this one. busy_mark lists those that are
// the agent's.
inline constexpr char scale_down_disabled[] =
    "cluster-autoscaler.kubernetes.io/scale-down-disabled";
inline constexpr char busy_mark[] = "slurmk8s/busy";
// The taints of a Node that its autoscaler is about to remove.
inline constexpr char karpenter_removes[] = "karpenter.sh/disrupted";
inline constexpr char cluster_autoscaler_removes[] =
    "ToBeDeletedByClusterAutoscaler";

// A Pod that stands for a node that a batch job waits for: its scheduler, which
// does not exist, and its label, "JOBID-TASK".
inline constexpr char demand_scheduler[] = "slurmk8s-waits";
inline constexpr char demand_label[] = "slurmk8s/waits-for-node";

} // namespace bridge::names
