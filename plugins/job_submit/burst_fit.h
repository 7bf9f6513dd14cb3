// SPDX-License-Identifier: GPL-2.0-or-later
// Whether slurmctld takes a plain batch job for a partition that is added to
// the one it asks for. Pure: values in, a phrase for a log out.
//
// slurmctld refuses a job because of a partition that was added to it, so the
// answer is no wherever it is not certain.
#pragma once

#include "plugins/job_submit/group_book.h"
#include "plugins/job_submit/node_view.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// What slurmctld knows of the job's user and of itself.
struct BurstFacts {
    bool enforces_all = false; // EnforcePartLimits=ALL
    bool enforces_accounts = false;
    // The job's account and those above it, in lower case.
    std::vector<std::string> accounts{};
    std::string qos{}; // in lower case; empty: not known, or several
    // Whether a partition that allows these groups takes the user.
    std::function<Membership(std::span<const std::string>)> in_groups{};
    // Whether the job is accounted to the same association there as in its own
    // partition.
    std::function<bool(const std::string &partition)> same_association{};
    ExpandHostlist expand{};
};

// Returns why the partition added may not be given to a job of the partition
// own, as a phrase; empty if it may.
std::string unfit_reason(const job_desc_msg_t &desc, const PartitionView &own,
                         const std::string &name, const PartitionView &added,
                         const BurstFacts &facts);

} // namespace bridge
