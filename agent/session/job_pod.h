// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the Pod of a batch job by its JobId, and decides who may access it.
// Slurm is not asked: the Pod has the facts in fields that our admission
// policies let only the agent write.
#pragma once

#include "common/base/json.h"
#include "common/kube/http.h"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bridge {

struct JobPod {
    std::string ns;
    std::string name;
    std::string container; // the container that runs the script
    std::string phase;
    std::uint32_t user_id = 0; // the user as whom the container runs

    bool operator==(const JobPod &) const = default;

    std::string path() const; // the object's path at the API server
};

// Returns the Pod of the newest batch job in the list, because Slurm uses
// JobIds again. If that job has several Pods, the one with the lowest rank is
// returned. Nothing when the list has no Pod of a batch job.
std::optional<JobPod> newest_job_pod(const std::vector<Json> &pods);

// Searches each of these namespaces. Code::not_found when the job has no Pod on
// a node or was not submitted by sbatch --k8s-image.
Result<JobPod> find_job_pod(Http &http,
                            const std::vector<std::string> &namespaces,
                            std::uint32_t job);

// Returns whether the caller is the user as whom the Pod runs, root, or
// SlurmUser; the latter two can become any user in Slurm.
bool may_use(const JobPod &pod, uid_t caller, uid_t slurm_user);

} // namespace bridge
