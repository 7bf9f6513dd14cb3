// SPDX-License-Identifier: GPL-2.0-or-later
// The names by which sbatch's Pods are known: between the SPANK plugin,
// job_submit/k8s and the agent, each written once.
#pragma once

namespace bridge::names {

// What spank/k8s tells job_submit/k8s, in spank_job_env; nothing else may begin
// so. The second is how Slurm itself passes an option of the plugin "k8s".
inline constexpr char spank_prefix[] = "K8S_"; // then as batch_options.h has it
inline constexpr char spank_option_prefix[] = "_SLURM_SPANK_OPTION_k8s_";

// The value of our mark (names.h) on a batch job begins so; what follows is the
// name of its script's file.
inline constexpr char batch_mark[] = "sbatch:";

// On a Pod that the agent has made for a batch job, written when it is made and
// by nobody else: "JOBID SLUID NAME", of the job and of its script's file, and
// of an array's task also "ARRAYJOBID_TASKID".
inline constexpr char batch_annotation[] = "slurmk8s/sbatch";

// On such a Pod when its user wants a signal before the end: when Slurm will
// end the job, in seconds since the epoch. The agent keeps it right.
inline constexpr char batch_ends_annotation[] = "slurmk8s/sbatch-ends";

// On each Pod of a job of several nodes, written when it is made: "RANK COUNT
// NODE" and, on a worker, the uid of the first Pod.
inline constexpr char batch_place_annotation[] = "slurmk8s/sbatch-node";

// Which ConfigMap with srun the Pod was made with: those of one job have the
// same.
inline constexpr char batch_srun_annotation[] = "slurmk8s/sbatch-srun";
// "RANK NODE IP", a line for each Pod of the job, once all have an address.
inline constexpr char batch_hosts_annotation[] = "slurmk8s/sbatch-hosts";

inline constexpr char scripts_dir[] = "k8s_sbatch"; // in StateSaveLocation

// What sbatch's jobs write to when they do not say (read_config.h in
// Slurm).
inline constexpr char batch_output[] = "slurm-%j.out";
inline constexpr char batch_array_output[] = "slurm-%A_%a.out"; // of arrays

// The name of the container, beside which a webhook may put others.
inline constexpr char batch_container[] = "job";

// Where the container has its script, and what starts it; and where the latter
// makes its pipes.
inline constexpr char batch_mount[] = "/slurmk8s";
inline constexpr char batch_pipes_mount[] = "/slurmk8s-pipes";
// And where that annotation is to be read, where there is one.
inline constexpr char batch_ends_mount[] = "/slurmk8s-ends";
inline constexpr char batch_ends_file[] = "ends";
// So do our volumes begin, and nobody else's.
inline constexpr char batch_volume_prefix[] = "slurmk8s-";

// In Slurm, where there is an SbatchTemplate: the feature of the nodes whose
// taints it tolerates.
inline constexpr char batch_feature[] = "k8s-sbatch";
// On the Pod in SbatchTemplate: which of its volumes a job gets only when it
// asks for them; names, separated by commas.
inline constexpr char choosable_volumes[] = "slurmk8s/choosable-volumes";

} // namespace bridge::names
