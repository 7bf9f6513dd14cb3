// SPDX-License-Identifier: GPL-2.0-or-later
// Names that the SPANK plugin, job_submit/k8s and the agent share for the Pods
// of sbatch jobs.
#pragma once

namespace bridge::names {

// spank/k8s passes options to job_submit/k8s in spank_job_env; all names with
// this prefix are reserved for that. The second prefix is the one with which
// Slurm itself passes an option of the plugin "k8s".
inline constexpr char spank_prefix[] = "K8S_"; // followed by the names in
                                               // batch_options.h
inline constexpr char spank_option_prefix[] = "_SLURM_SPANK_OPTION_k8s_";
// The option --k8s-no-burst, which is for jobs that run no Pod. Its value says
// nothing.
inline constexpr char no_burst_variable[] = "K8S_NO_BURST";

// The value of our mark (names.h) on a batch job begins with this; the name of
// its script file follows.
inline constexpr char batch_mark[] = "sbatch:";

// On a Pod that the agent has made for a batch job; only the agent writes it,
// when it makes the Pod. "JOBID SLUID NAME": the job and the name of its script
// file. A task of an array also has "ARRAYJOBID_TASKID".
inline constexpr char batch_annotation[] = "slurmk8s/sbatch";

// On such a Pod if its user wants a signal before the end of the job: the time
// at which Slurm will end the job, in seconds since the epoch. The agent keeps
// it up to date.
inline constexpr char batch_ends_annotation[] = "slurmk8s/sbatch-ends";

// On each Pod of a job of several nodes, written when the Pod is made: "RANK
// COUNT NODE" and, on a worker, the uid of the first Pod.
inline constexpr char batch_place_annotation[] = "slurmk8s/sbatch-node";

// The ConfigMap with srun that the Pod uses: all Pods of one job use the same.
inline constexpr char batch_srun_annotation[] = "slurmk8s/sbatch-srun";
// "RANK NODE IP", one line for each Pod of the job, written once all have an
// address.
inline constexpr char batch_hosts_annotation[] = "slurmk8s/sbatch-hosts";

inline constexpr char scripts_dir[] = "k8s_sbatch"; // in StateSaveLocation

// Where sbatch jobs write to by default (read_config.h in Slurm).
inline constexpr char batch_output[] = "slurm-%j.out";
inline constexpr char batch_array_output[] = "slurm-%A_%a.out"; // of arrays

// The name of the job's container. A webhook may add other containers.
inline constexpr char batch_container[] = "job";

// Where the container has its script and launcher, and where the launcher makes
// its pipes.
inline constexpr char batch_mount[] = "/slurmk8s";
inline constexpr char batch_pipes_mount[] = "/slurmk8s-pipes";
// Where the container can read batch_ends_annotation, if it has one.
inline constexpr char batch_ends_mount[] = "/slurmk8s-ends";
inline constexpr char batch_ends_file[] = "ends";
// Prefix of our volumes, reserved for them.
inline constexpr char batch_volume_prefix[] = "slurmk8s-";

// The Slurm feature of the nodes whose taints the SbatchTemplate tolerates;
// used only if there is an SbatchTemplate.
inline constexpr char batch_feature[] = "k8s-sbatch";
// On the Pod in SbatchTemplate: the volumes that a job gets only on request;
// names separated by commas.
inline constexpr char choosable_volumes[] = "slurmk8s/choosable-volumes";

} // namespace bridge::names
