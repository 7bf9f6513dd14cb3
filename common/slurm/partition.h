// SPDX-License-Identifier: GPL-2.0-or-later
// A partition of Slurm, as far as it matters which jobs slurmctld starts first
// there and what it costs to be in it. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

struct Partition {
    std::string name;
    std::vector<std::string> nodes;
    bool up = false;        // its jobs are started
    std::uint16_t tier = 0; // PriorityTier: jobs of a higher one come first
    // Users may not ask for it, or only together with a reservation.
    bool restricted = false;
    // A job of a higher tier may end or suspend its jobs.
    bool preemptable = false;
    std::string billing; // TRESBillingWeights
    std::string qos;     // whose limits its jobs have, too; or empty
    // OverSubscribe, PreemptMode, MaxMemPerCPU and their like: only to compare.
    std::string manner;

    bool operator==(const Partition &) const = default;
};

} // namespace bridge
