// SPDX-License-Identifier: GPL-2.0-or-later
// Every label, annotation and path that is shared with users or between our own
// programs. The names under slinky.slurm.net are those of Slinky's
// slurm-bridge, whose manifests must work unchanged; extensions have the prefix
// slurmk8s/.
#pragma once

namespace bridge::names {

// On a Pod; only the binding sets them.
inline constexpr char job_id_label[] = "scheduler.slinky.slurm.net/slurm-jobid";
inline constexpr char node_annotation[] = "slinky.slurm.net/slurm-node";
inline constexpr char sluid_annotation[] = "slurmk8s/sluid";
// On a Pod: the agent increments it before it replaces a job on its own
// initiative.
inline constexpr char generation_annotation[] = "slurmk8s/generation";

// On a Pod; the binding sets them unless the user has: autoscalers leave its
// Node alone while it runs. Karpenter's, and cluster-autoscaler's ("false").
inline constexpr char do_not_disrupt[] = "karpenter.sh/do-not-disrupt";
inline constexpr char safe_to_evict[] =
    "cluster-autoscaler.kubernetes.io/safe-to-evict";

// On a Pod, set by users: the Pod belongs to the gang of this name in its
// namespace; the number of Pods in the gang; and how many of them must exist
// before the job is requested (default: all). Without the label, the two sizes
// apply to the gang that the kind of the Pod's owner (Job, JobSet,
// LeaderWorkerSet) defines.
inline constexpr char gang_label[] = "slurmk8s/gang";
inline constexpr char gang_size_annotation[] = "slurmk8s/gang-size";
inline constexpr char gang_min_annotation[] = "slurmk8s/gang-min";
// On a Pod of a gang; only the binding sets them: the Pod's rank in the gang,
// from 0, and the Slurm nodes of its job, in Slurm's order.
inline constexpr char rank_annotation[] = "slurmk8s/rank";
inline constexpr char nodes_annotation[] = "slurmk8s/nodes";

// On a Pod, set by the controllers of these kinds.
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

// On a Pod or on its owner, set by users: PREFIX + name, such as "partition" or
// "timelimit". The second prefix is an older one of Slinky.
inline constexpr char job_annotation_prefix[] = "slurmjob.slinky.slurm.net/";
inline constexpr char old_job_annotation_prefix[] = "slinky.slurm.net/";
inline constexpr char our_job_annotation_prefix[] = "slurmk8s/";

// On a Namespace, set by administrators: the identity of its Pods in Slurm.
inline constexpr char namespace_user[] = "slurmk8s/user";
inline constexpr char namespace_group[] = "slurmk8s/group";
inline constexpr char namespace_account[] = "slurmk8s/account";
inline constexpr char namespace_qos[] = "slurmk8s/qos";

// On a Namespace, set by administrators: "false" lets its Pods run on Slurm's
// Nodes outside of the queue (contribs/kubernetes/components/strict-nodes).
inline constexpr char strict_nodes_label[] = "slurmk8s/strict-nodes";

// On a Node, set by administrators: make it a Slurm node, and list its
// partitions (separated by commas; each becomes a feature of the Slurm node).
inline constexpr char external_node_label[] =
    "scheduler.slinky.slurm.net/external-node";
inline constexpr char external_node_partitions[] =
    "scheduler.slinky.slurm.net/external-node-partitions";
// On a Node: its place in Slurm's topology, as "tree1:s1" or "b1".
inline constexpr char topology_annotation[] = "topology.slinky.slurm.net/spec";
// The taint that keeps other schedulers off our Nodes.
inline constexpr char managed_node_taint[] = "slinky.slurm.net/managed-node";
// On a Node: the name of the Slurm node, if it differs from the Node's.
inline constexpr char slurm_nodename_label[] =
    "slinky.slurm.net/slurm-nodename";

// On a PersistentVolumeClaim that waits for its first consumer: the consumer's
// Node.
inline constexpr char selected_node_annotation[] =
    "volume.kubernetes.io/selected-node";
// On a Node; only the agent sets them: the taint is the agent's own; the cordon
// is the agent's own, with Slurm's reason; somebody has removed that cordon
// while the Slurm node is still unavailable for the same reason; the next
// maintenance reservation.
inline constexpr char taint_mark[] = "slurmk8s/tainted";
inline constexpr char cordon_mark[] = "slurmk8s/cordoned";
inline constexpr char uncordon_mark[] = "slurmk8s/uncordoned";
inline constexpr char maintenance_annotation[] = "slurmk8s/maintenance";

// In Slurm: the feature of every node on which Pods may run, and the entry in a
// job's spank_job_env by which our hooks recognise our jobs. slurmctld shows
// that entry to the hooks with the prefix "SPANK_".
inline constexpr char feature[] = "k8s";
// Prefix of every feature that the agent itself creates and deletes.
inline constexpr char predicate_prefix[] = "k8s-";
// Prefix of a feature that only the node with this name has, for as long as a
// job must run on exactly that node.
inline constexpr char pin_prefix[] = "k8s-node-";
// Prefix of a feature that comes from a label of the Node
// (common/contract/feature_labels.h), and the name after it in the feature that
// every node with a kubelet reports.
inline constexpr char label_feature_prefix[] = "k8s.";
inline constexpr char kubelet_name[] = "kubelet";
// The feature of nodes on which Pods without tolerations and without
// requirements on their node may run.
inline constexpr char untainted_feature[] = "k8s-untainted";
// The feature of nodes with CPU devices (DeviceGres=CLASS:cpu).
inline constexpr char cpu_devices_feature[] = "k8s-cpus";
// A node that is created and deleted to make slurmctld rebuild its partitions.
inline constexpr char rebuild_node[] = "k8s-rebuild";
inline constexpr char job_mark[] = "K8S_GANG";
inline constexpr char hook_job_mark[] = "SPANK_K8S_GANG";

// Prefix of the reason of every drain that is ours; and the reason given by the
// plugin or the agent when a job has waited too long for a node.
inline constexpr char drain_mark[] = "slurmk8sd: ";
inline constexpr char gate_drain_reason[] =
    "slurmk8sd: Pods of ended jobs do not stop";

inline constexpr char gate_file[] = "k8s_gate"; // in StateSaveLocation
inline constexpr char conf_file[] = "k8s.conf"; // beside slurm.conf
inline constexpr char default_conf_path[] = "/etc/slurm/k8s.conf";
// The agent's User-Agent, which also becomes the field manager of its writes.
inline constexpr char manager[] = "slurmk8sd";

inline constexpr char default_kubelet_dir[] = "/var/lib/kubelet";
inline constexpr char default_labels_file[] = "/run/slurmk8s-node/labels.json";
inline constexpr char default_socket_path[] = "/run/slurmk8s/hook.sock";
// Where the agent keeps what jobs have done, for its metrics: in the directory
// that its systemd unit lets it write.
inline constexpr char job_history_file[] = "/var/lib/slurmk8s/job-history";

} // namespace bridge::names
