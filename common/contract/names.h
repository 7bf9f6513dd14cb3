// SPDX-License-Identifier: GPL-2.0-or-later
// Every label, annotation and path that we share with users or between our own
// programs, each written once. The names under slinky.slurm.net are those of
// Slinky's slurm-bridge, whose manifests must run unchanged; ours go further
// under the prefix slurmk8s/.
#pragma once

namespace bridge::names {

// On a Pod, written by the binding and by nobody else.
inline constexpr char job_id_label[] = "scheduler.slinky.slurm.net/slurm-jobid";
inline constexpr char node_annotation[] = "slinky.slurm.net/slurm-node";
inline constexpr char sluid_annotation[] = "slurmk8s/sluid";
// Raised by the agent before it replaces a job of its own accord.
inline constexpr char generation_annotation[] = "slurmk8s/generation";

// On a Pod, written by users: that it is one of a gang of that name in its
// namespace, of how many Pods, and how many of them must exist before a job is
// asked for (all). The sizes alone: of what the gang's own kind says otherwise.
inline constexpr char gang_label[] = "slurmk8s/gang";
inline constexpr char gang_size_annotation[] = "slurmk8s/gang-size";
inline constexpr char gang_min_annotation[] = "slurmk8s/gang-min";
// On a Pod of a gang, written by the binding and by nobody else: which of its
// Pods it is, from 0, and Slurm's nodes of its job, in Slurm's order.
inline constexpr char rank_annotation[] = "slurmk8s/rank";
inline constexpr char nodes_annotation[] = "slurmk8s/nodes";

// On a Pod, written by the controllers of these kinds.
inline constexpr char job_index_label[] =
    "batch.kubernetes.io/job-completion-index";
inline constexpr char pod_index_label[] = "apps.kubernetes.io/pod-index";
inline constexpr char jobset_name_label[] = "jobset.sigs.k8s.io/jobset-name";
inline constexpr char jobset_uid_label[] = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr char jobset_attempt_label[] =
    "jobset.sigs.k8s.io/restart-attempt";
inline constexpr char jobset_job_index_label[] =
    "jobset.sigs.k8s.io/job-global-index";
inline constexpr char lws_name_label[] = "leaderworkerset.sigs.k8s.io/name";
inline constexpr char lws_group_index_label[] =
    "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr char lws_group_key_label[] =
    "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr char lws_worker_index_label[] =
    "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr char lws_size_annotation[] =
    "leaderworkerset.sigs.k8s.io/size";

// On a Pod or on what owns it, written by users: PREFIX + name, such as
// "partition" or "timelimit". The second prefix is Slinky's older one.
inline constexpr char job_annotation_prefix[] = "slurmjob.slinky.slurm.net/";
inline constexpr char old_job_annotation_prefix[] = "slinky.slurm.net/";
inline constexpr char our_job_annotation_prefix[] = "slurmk8s/";

// On a Namespace, written by administrators: whom its Pods run as in Slurm.
inline constexpr char namespace_user[] = "slurmk8s/user";
inline constexpr char namespace_group[] = "slurmk8s/group";
inline constexpr char namespace_account[] = "slurmk8s/account";
inline constexpr char namespace_qos[] = "slurmk8s/qos";

// On a Node, written by administrators: make it a Slurm node, and in which
// partitions (comma separated; each becomes a feature of the Slurm node).
inline constexpr char external_node_label[] =
    "scheduler.slinky.slurm.net/external-node";
inline constexpr char external_node_partitions[] =
    "scheduler.slinky.slurm.net/external-node-partitions";
// The place of a Node in Slurm's topology, as "tree1:s1" or "b1".
inline constexpr char topology_annotation[] = "topology.slinky.slurm.net/spec";
// The taint that keeps other schedulers off our Nodes.
inline constexpr char managed_node_taint[] = "slinky.slurm.net/managed-node";
// On a Node: the name of the Slurm node where it differs from the Node's.
inline constexpr char slurm_nodename_label[] =
    "slinky.slurm.net/slurm-nodename";

// On a volume claim that waits for its first consumer: the Node of that.
inline constexpr char selected_node_annotation[] =
    "volume.kubernetes.io/selected-node";
// On a Node, written by the agent and by nobody else: that the taint is its
// own; that the cordon is, with Slurm's reason; that somebody took it back
// while Slurm's node was off for that reason; and the maintenance reservation
// ahead.
inline constexpr char taint_mark[] = "slurmk8s/tainted";
inline constexpr char cordon_mark[] = "slurmk8s/cordoned";
inline constexpr char uncordon_mark[] = "slurmk8s/uncordoned";
inline constexpr char maintenance_annotation[] = "slurmk8s/maintenance";

// In Slurm: the feature of every node on which Pods may live, and the entry in
// a job's spank_job_env that tells our hooks which jobs are ours. slurmctld
// shows it to the hooks with "SPANK_" in front.
inline constexpr char feature[] = "k8s";
// In front of every feature that the agent itself makes up and takes away.
inline constexpr char predicate_prefix[] = "k8s-";
// In front of a Slurm node's name: the feature that only this node has, while a
// job must run there and nowhere else.
inline constexpr char pin_prefix[] = "k8s-node-";
// In front of a feature that a Node's label gives
// (common/contract/feature_labels.h), and what follows it in the one that every
// node with a kubelet reports.
inline constexpr char label_feature_prefix[] = "k8s.";
inline constexpr char kubelet_name[] = "kubelet";
// The one of the nodes on which Pods without any wish may run.
inline constexpr char untainted_feature[] = "k8s-untainted";
// The one of the nodes with CPU devices (DeviceGres=CLASS:cpu).
inline constexpr char cpu_devices_feature[] = "k8s-cpus";
// The node that comes and goes when partitions are to be made anew.
inline constexpr char rebuild_node[] = "k8s-rebuild";
inline constexpr char job_mark[] = "K8S_GANG";
inline constexpr char hook_job_mark[] = "SPANK_K8S_GANG";

// The beginning of the reason of each drain that is ours; and the reason that
// the plugin gives, or the agent, when a job has waited too long for a node.
inline constexpr char drain_mark[] = "slurmk8sd: ";
inline constexpr char gate_drain_reason[] =
    "slurmk8sd: Pods of ended jobs do not stop";

inline constexpr char gate_file[] = "k8s_gate"; // in StateSaveLocation
inline constexpr char conf_file[] = "k8s.conf"; // beside slurm.conf
inline constexpr char default_conf_path[] = "/etc/slurm/k8s.conf";
// The agent's User-Agent, and by that the manager of the fields that it writes.
inline constexpr char manager[] = "slurmk8sd";

inline constexpr char default_kubelet_dir[] = "/var/lib/kubelet";
inline constexpr char default_labels_file[] = "/run/slurmk8s-node/labels.json";
inline constexpr char default_socket_path[] = "/run/slurmk8s/hook.sock";

} // namespace bridge::names
