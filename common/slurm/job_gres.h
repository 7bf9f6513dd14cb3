// SPDX-License-Identifier: GPL-2.0-or-later
// The GRES of a job on one node, as in slurmctld's records of jobs:
//
//    gpu:a100:2(IDX:0-1),gpu:h100:0(IDX:),license(CNT:3)
//
// If the job requested any type, all types of the node may be listed. Pure.
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
    std::string type; // empty: the node has no types
    std::uint64_t count = 0;
    std::vector<std::uint32_t> indexes; // empty: Slurm assigns no particular
                                        // ones

    bool operator==(const JobGres &) const = default;
};

inline constexpr std::size_t max_gres_index = 65535;

// Parses the list of one node. Code::rejected if the form is different, or if
// the number of indexes differs from the count: slurmctld truncates long lists.
// Shares of GRES, such as shard, have a count and no indexes.
Result<std::vector<JobGres>> parse_job_gres(std::string_view text);

} // namespace bridge
