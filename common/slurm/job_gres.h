// SPDX-License-Identifier: GPL-2.0-or-later
// The GRES that a job has on a node, as slurmctld's records of jobs tell it:
//
//     gpu:a100:2(IDX:0-1),gpu:h100:0(IDX:),license(CNT:3)
//
// Where the job asked for any type there may be each that the node has. Pure.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct JobGres {
    std::string gres;
    std::string type; // empty: the node has none
    std::uint64_t count = 0;
    std::vector<std::uint32_t> indexes; // none: Slurm gives no particular ones

    bool operator==(const JobGres &) const = default;
};

inline constexpr std::size_t max_gres_index = 65535;

// One node's. Code::rejected for what is not so, and where the list of indexes
// does not have as many as there are: slurmctld cuts long ones short. Shares of
// GRES, as of shard, have a count and no indexes.
Result<std::vector<JobGres>> parse_job_gres(std::string_view text);

} // namespace bridge
