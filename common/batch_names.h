// SPDX-License-Identifier: GPL-2.0-or-later
// The names by which sbatch's Pods are known: between the SPANK plugin,
// job_submit/k8s and the agent, each written once.
#pragma once

namespace bridge::names {

// What spank/k8s tells job_submit/k8s, in spank_job_env; nothing else may begin
// so. The second is how Slurm itself passes an option of the plugin "k8s".
inline constexpr char spank_prefix[] = "K8S_";
inline constexpr char spank_image[] = "K8S_IMAGE";
inline constexpr char spank_option_prefix[] = "_SLURM_SPANK_OPTION_k8s_";

// The value of our mark (names.h) on a batch job begins so; what follows is the
// name of its script's file.
inline constexpr char batch_mark[] = "sbatch:";

// On a Pod that the agent has made for a batch job, written when it is made and
// by nobody else: "JOBID SLUID NAME", of the job and of its script's file.
inline constexpr char batch_annotation[] = "slurmk8s/sbatch";

inline constexpr char scripts_dir[] = "k8s_sbatch"; // in StateSaveLocation

// Where the container has its script, and what starts it.
inline constexpr char batch_mount[] = "/slurmk8s";

} // namespace bridge::names
