// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch with --k8s-image and components (":", #SBATCH hetjob). One thread of
// slurmctld shows them to job_submit/k8s one after the other, the leader first,
// before any job is made (_slurm_rpc_submit_batch_het_job() in proc_req.c);
// only the leader has the script. All are external jobs then, or none. Pure.
#pragma once

#include "common/contract/conf.h"
#include "plugins/job_submit/batch_wish.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// Of the heterogeneous job whose components come next.
struct HetLeader {
    std::uint32_t user_id = 0;
    std::string script;            // the name of its file
    std::optional<BatchWish> said; // by sbatch's options
    BatchWish wish;                // with the image of its partition
    std::uint32_t components = 1;  // so far
    std::uint32_t nodes = 0;       // that these may get
};

// Why it cannot be a component of that leader's job, if so; said: as in
// HetLeader. None: the leader does not run as a Pod.
std::optional<std::string>
refuse_component(const job_desc_msg_t &desc,
                 const std::optional<BatchWish> &said,
                 const std::optional<HetLeader> &leader, const Conf &conf);

} // namespace bridge
