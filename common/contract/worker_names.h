// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s-operator and the agents write on slurmd Pods and on the objects
// of slinky.slurm.net. The names under slinky.slurm.net are those of Slinky's
// slurm-operator, whose manifests must work unchanged.
#pragma once

#include "common/contract/names.h"

namespace bridge::names {

inline constexpr char slinky_group[] = "slinky.slurm.net";
inline constexpr char node_set_kind[] = "NodeSet";
inline constexpr char slinky_version[] = "slinky.slurm.net/v1beta1";

// On a slurmd Pod, set by the operator.
inline constexpr char app_label[] = "app.kubernetes.io/name";
inline constexpr char instance_label[] = "app.kubernetes.io/instance";
inline constexpr char component_label[] = "app.kubernetes.io/component";
inline constexpr char cluster_label[] = "slinky.slurm.net/cluster";
inline constexpr char worker_name_label[] = "nodeset.slinky.slurm.net/pod-name";
inline constexpr char worker_index_label[] =
    "nodeset.slinky.slurm.net/pod-index";
inline constexpr char worker_hostname_label[] =
    "nodeset.slinky.slurm.net/pod-hostname";
inline constexpr char scaling_mode_label[] =
    "nodeset.slinky.slurm.net/scaling-mode";
inline constexpr char revision_label[] = "controller-revision-hash";

// On a slurmd Pod, set by the agent: its node has jobs; what its deletion
// costs; when its last job ends at the latest (RFC 3339).
inline constexpr char protect_label[] = "nodeset.slinky.slurm.net/pod-protect";
inline constexpr char deletion_cost_annotation[] =
    "nodeset.slinky.slurm.net/pod-deletion-cost";
inline constexpr char deadline_annotation[] =
    "nodeset.slinky.slurm.net/pod-deadline";
// The beginning of the types of conditions that repeat the states of the Slurm
// node: SlurmNodeStateIdle and so on.
inline constexpr char node_state_condition[] = "SlurmNodeState";

// On a slurmd Pod: what the operator asks of the agent, and the condition with
// which the agent answers (common/contract/worker_request.h).
inline constexpr char worker_request_annotation[] = "slurmk8s/worker-request";
inline constexpr char worker_drained_condition[] = "slurmk8s/Drained";
// Beside a request to drain, set by the operator: "true" if no Pod of this name
// is to come back, so that the record of its Slurm node is to be removed, too.
inline constexpr char forget_annotation[] = "slurmk8s/forget-node";

// On a slurmd Pod, set by people or by the operator: "true" drains its node.
inline constexpr char worker_cordon_annotation[] =
    "nodeset.slinky.slurm.net/pod-cordon";
// The condition, to be a readiness gate, by which the agent says that slurmd of
// the Pod serves a Slurm node.
inline constexpr char worker_registered_condition[] = "slurmk8s/Registered";
// In Slurm, the beginning of the reason of each drain that follows from a Pod.
inline constexpr char worker_drain_mark[] = "slurm-operator: ";

// On a Kubernetes Node, set by people: the host name of a slurmd Pod there, in
// the mode DaemonSet; and features, with commas. The operator copies the latter
// to the slurmd Pods of the Node, as it does topology_annotation, and the agent
// gives them to the Slurm node; the features with this prefix.
inline constexpr char hostname_annotation[] =
    "nodeset.slinky.slurm.net/hostname-override";
inline constexpr char features_annotation[] = "features.slinky.slurm.net/spec";
inline constexpr char node_feature_prefix[] = "k8s/";

// On a NodeSet: as long as it has Pods, it does not go. "now" in the annotation
// deletes the Pods of a NodeSet that is being deleted without asking.
inline constexpr char node_set_finalizer[] = "slurmk8s/workers";
inline constexpr char delete_annotation[] = "slurmk8s/delete";

// On a Controller: as long as its NodeSets have Pods, slurmctld stays. It may
// say which image slurmk8sd comes from, and whether slurmctld and slurmd load
// the plugins of this project: "true".
inline constexpr char controller_finalizer[] = "slurmk8s/cluster";
inline constexpr char agent_image_annotation[] = "slurmk8s/agent-image";
inline constexpr char plugins_annotation[] = "slurmk8s/plugins";
// "true": Slurm is to schedule Pods of this Kubernetes, too; and lines that the
// k8s.conf of its slurmk8sd gets then.
inline constexpr char bridge_annotation[] = "slurmk8s/bridge";
inline constexpr char k8s_conf_annotation[] = "slurmk8s/k8s-conf";

// On what the operator makes for a Controller: the hash of what was applied. On
// its ConfigMap: the largest MaxNodeCount, and the partitions of NodeSets, that
// slurm.conf has had. On its Pods: the hash of their files.
inline constexpr char applied_annotation[] = "slurmk8s/applied";
inline constexpr char max_nodes_annotation[] = "slurmk8s/max-node-count";
inline constexpr char partitions_annotation[] = "slurmk8s/partitions";
inline constexpr char config_hash_annotation[] = "slurmk8s/config-hash";
// In the volume with these files: the same hash, so that slurmk8sd sees a
// change of any of them. It answers by a condition of its own Pod, which is
// True, with the hash as its message, when slurmctld has read them.
inline constexpr char config_hash_file[] = "config-hash";
inline constexpr char configured_condition[] = "slurmk8s/Configured";
// In slurmk8sd's environment: its own Pod.
inline constexpr char pod_name_variable[] = "SLURMK8S_POD_NAME";
inline constexpr char pod_uid_variable[] = "SLURMK8S_POD_UID";
// The Lease of slurmk8sd in the namespace of its Controller.
inline constexpr char agent_lease[] = "slurmk8sd";

} // namespace bridge::names
