// SPDX-License-Identifier: GPL-2.0-or-later
// The JSON of a batch job's Pod and Secret, made from what Slurm knows of the
// job, what sbatch handed over, and the site's template. The user and groups of
// the Pod come only from Slurm and the user database. Pure functions.
#pragma once

#include "agent/gang/batch_mark.h"
#include "agent/gang/batch_place.h"
#include "common/base/result.h"
#include "common/contract/batch_script.h"
#include "common/contract/conf.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// The user that a Pod runs as.
struct BatchUser {
    std::string name;
    std::string group;
    std::vector<std::uint32_t> groups; // supplementary groups, without root's
    std::string home{};
    std::string shell{};
};

// Returns the Pod's JSON, based on the template that conf has read. These
// fields are always ours: user and groups, requests, image and command,
// restartPolicy, schedulerName, and that nothing in the container gains
// privileges. batch is on_node() for this Pod's node, and place says which node
// that is. With several nodes, all Pods are one gang, and the Pod of the script
// owns the workers. srun names the ConfigMap with srun, also for a job of one
// node; empty means that there is none for that node. Then a worker waits in
// the image's shell, and in the Pod of the script srun prints the reason.
// Code::rejected for a volume that the template does not let jobs choose, and
// for GRES that no Pod can get.
Result<std::string>
batch_pod_body(const BatchJob &batch, const BatchScript &script,
               const BatchUser &user, const BatchMark &mark, const Conf &conf,
               const BatchPlace &place = {}, const std::string &srun = {});

// Returns the same Pod with a grace period of at most that.
std::string with_grace_up_to(std::chrono::seconds most, std::string pod);

// Returns the predicate of the template of these Pods: its node selection and
// tolerations limit the nodes that batch jobs may have. Nothing when there is
// no SbatchTemplate.
std::optional<Predicate> batch_predicate(const Conf &conf);

// Returns the namespace of the job's Pods.
std::string batch_namespace_of(const BatchScript &script, const Conf &conf);

// What the Secret of a job holds for srun.
struct StepSecret {
    std::string key{};     // shared by the Pods; empty: one node only
    std::string no_srun{}; // a script that replaces srun
};

// Returns the JSON of the Secret, owned by that Pod, with the batch script and
// the launcher. (secret.cc)
std::string batch_secret_body(const Pod &pod, const std::string &launcher,
                              const std::string &script,
                              const StepSecret &step = {});

// Returns the SLURM_… variables of sbatch(1) that are known before the job
// runs, each as NAME=VALUE. (variables.cc)
std::vector<std::string> batch_variables(const BatchJob &batch,
                                         const BatchUser &user,
                                         const std::string &cluster);

} // namespace bridge
