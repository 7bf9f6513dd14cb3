// SPDX-License-Identifier: GPL-2.0-or-later
// Components of heterogeneous sbatch jobs (":", #SBATCH hetjob) with
// --k8s-image. One thread of slurmctld passes them to job_submit/k8s one after
// the other, the leader first, before any job is created
// (_slurm_rpc_submit_batch_het_job() in proc_req.c). Only the leader has the
// script. Either all components become external jobs or none. Pure.
#pragma once

#include "common/contract/conf.h"
#include "plugins/job_submit/batch_wish.h"

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// The leader of the heterogeneous job whose components come next.
struct HetLeader {
    std::uint32_t user_id = 0;
    std::string script;            // name of its script file
    std::optional<BatchWish> said; // as given by sbatch's options
    BatchWish wish; // with the image of its partition, if it has none
    std::uint32_t components = 1; // seen so far
    std::uint32_t nodes = 0;      // the most that these may get
};

// Returns the reason for which this cannot be a component of that leader's job,
// if there is one. said: as in HetLeader. leader is empty if the leader does
// not run as a Pod.
std::optional<std::string> component_refusal_reason(
    const job_desc_msg_t &desc, const std::optional<BatchWish> &said,
    const std::optional<HetLeader> &leader, const Conf &conf);

} // namespace bridge
