// SPDX-License-Identifier: GPL-2.0-or-later
// The part of SlurmApi for heterogeneous jobs.
#include "common/slurm/api.h"
#include "common/slurm/request.h"
#include "common/slurm/strings.h"
#include "common/slurm/submitted.h"

#include <deque>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using RequestList = SlurmPtr<list_t, slurm_list_destroy>;

} // namespace

// slurmctld accepts all of them in one locked section, or none.
Result<JobRef>
SlurmApi::submit_het(const std::vector<JobDescription> &components)
{
    std::deque<SubmitRequest> requests; // SubmitRequest cannot be moved
    RequestList list(slurm_list_create(nullptr));
    for (const JobDescription &component : components)
        slurm_list_append(list.get(),
                          &requests.emplace_back(component).message);
    return submitted_job("submit", [&](submit_response_msg_t **answer) {
        return slurm_submit_batch_het_job(list.get(), answer);
    });
}

} // namespace bridge
