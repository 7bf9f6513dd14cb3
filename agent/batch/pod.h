// SPDX-License-Identifier: GPL-2.0-or-later
// The Pod and the Secret of a batch job, from what Slurm says of the job, what
// sbatch handed over, and the site's template. Whom the Pod runs as comes from
// Slurm and the user database alone. Pure.
#pragma once

#include "agent/gang/batch_mark.h"
#include "agent/gang/batch_place.h"
#include "common/base/result.h"
#include "common/contract/batch_script.h"
#include "common/contract/conf.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Whom a Pod runs as.
struct BatchUser {
    std::string name;
    std::string group;
    std::vector<std::uint32_t> groups; // supplementary ones, but root's
    std::string home{};
    std::string shell{};
};

// The Pod's JSON, of the template that conf has read. These are ours: whom it
// runs as, its requests, its image and command, restartPolicy, schedulerName,
// and that nothing in the container gains privileges. Code::rejected for a
// volume that the template does not let jobs choose, and for GRES that no Pod
// gets. batch is on_node() of this Pod's, and place says which that is: of
// several nodes all are of one gang, and a worker belongs to the first. srun:
// the ConfigMap with that program, also of a job of one node. Empty: there is
// none for that node; then a worker waits by the image's shell, and beside the
// script srun says why.
Result<std::string>
batch_pod_body(const BatchJob &batch, const BatchScript &script,
               const BatchUser &user, const BatchMark &mark, const Conf &conf,
               const BatchPlace &place = {}, const std::string &srun = {});

// What the template of these Pods tolerates, on its own: which nodes the jobs
// may have. Nothing where there is no SbatchTemplate.
std::optional<Predicate> batch_predicate(const Conf &conf);

// Where its Pod is.
std::string batch_namespace_of(const BatchScript &script, const Conf &conf);

// What a job has in its Secret for srun.
struct StepSecret {
    std::string key{};     // of its Pods; empty: it has one node
    std::string no_srun{}; // a script in place of srun
};

// The Secret's JSON, owned by that Pod: the script, and what starts it.
// (secret.cc)
std::string batch_secret_body(const Pod &pod, const std::string &launcher,
                              const std::string &script,
                              const StepSecret &step = {});

// SLURM_… as sbatch(1) has them, as far as they are known before the job runs
// (variables.cc).
std::vector<std::string> batch_variables(const BatchJob &batch,
                                         const BatchUser &user,
                                         const std::string &cluster);

} // namespace bridge
