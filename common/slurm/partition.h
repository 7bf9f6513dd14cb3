// SPDX-License-Identifier: GPL-2.0-or-later
// A Slurm partition, as far as it determines which jobs slurmctld starts first
// and what a job in it costs. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

struct Partition {
    std::string name;
    std::vector<std::string> nodes;
    bool up = false;        // its jobs may start
    std::uint16_t tier = 0; // PriorityTier: higher tiers are scheduled first
    // Users may not request it, or only together with a reservation.
    bool restricted = false;
    // Jobs of a higher tier may end or suspend its jobs.
    bool preemptable = false;
    std::string billing; // TRESBillingWeights
    std::string qos;     // the QoS whose limits its jobs have, too; or empty
    // OverSubscribe, PreemptMode, MaxMemPerCPU and similar settings as one
    // text; only compared.
    std::string manner;

    bool operator==(const Partition &) const = default;
};

} // namespace bridge
