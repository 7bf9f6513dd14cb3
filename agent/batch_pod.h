// SPDX-License-Identifier: GPL-2.0-or-later
// The Pod and the Secret of a batch job, from what Slurm says of the job, what
// sbatch handed over, and the site's template. Whom the Pod runs as comes from
// Slurm and the user database alone. Pure.
#pragma once

#include "agent/batch_job.h"
#include "common/batch_script.h"
#include "common/conf.h"
#include "common/result.h"

#include <cstdint>
#include <string>
#include <string_view>
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

// What a cluster without SbatchTemplate has: no volume, no privilege.
std::string_view default_batch_template();

// The Pod's JSON. Whatever the template says, these are ours: whom it runs as,
// its requests, its image and command, restartPolicy, schedulerName, and that
// nothing in the container gains privileges. Code::rejected for a template that
// is no Pod of one container.
Result<std::string> batch_pod_body(const BatchJob &batch,
                                   const BatchScript &script,
                                   const BatchUser &user,
                                   const BatchMark &mark, const Conf &conf,
                                   std::string_view pod_template);

// The Secret's JSON, owned by that Pod: the script, and what starts it.
std::string batch_secret_body(const Pod &pod, const std::string &launcher,
                              const std::string &script);

// What sbatch hands over with --export=NONE, or a list, lacks: slurmd would load
// the user's login environment then.
void add_login(BatchScript &script, const BatchUser &user);

// A shell script: environment, umask, directory, and then the script, so that
// its exit code is the container's. Needs sh and env in the image.
std::string batch_launcher(const BatchScript &script,
                           const std::vector<std::string> &variables);

// SLURM_… as sbatch(1) has them, as far as they are known before the job runs.
std::vector<std::string> batch_variables(const BatchJob &batch,
                                         const BatchUser &user,
                                         const std::string &cluster);

} // namespace bridge
