// SPDX-License-Identifier: GPL-2.0-or-later
// The Pod of a batch job, found by its JobId, and who may come near it. Knows
// nothing of Slurm: the Pod itself says what our admission policies let nobody
// but the agent write.
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
    std::string container; // the one that runs the script
    std::string phase;
    std::uint32_t user_id = 0; // as whom its container runs

    bool operator==(const JobPod &) const = default;

    std::string path() const; // of the object at the API server
};

// That of the newest batch job among the Pods of a list: JobIds are used again.
// Of several the first in rank. Nothing: none of them is a batch job's.
std::optional<JobPod> newest_job_pod(const std::vector<Json> &pods);

// Asks in each of these namespaces. Code::not_found when the job has no Pod on
// a node, or none of ours.
Result<JobPod> find_job_pod(Http &http,
                            const std::vector<std::string> &namespaces,
                            std::uint32_t job);

// The user as whom it runs; root and SlurmUser can become anybody in Slurm.
bool may_use(const JobPod &pod, uid_t caller, uid_t slurm_user);

} // namespace bridge
