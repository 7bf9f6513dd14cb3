// SPDX-License-Identifier: GPL-2.0-or-later
// Devices that several claims have parts of, which Slurm counts by GRES without
// indexes (DeviceCapacity in k8s.conf). Pure.
//
//   device                              the node has      a job requests
//   ----------------------------------  ----------------  --------------------
//   given in shares                     its capacity      what its share
//   (allowMultipleAllocations)                            consumes
//   a partition, or a whole device      the counters of   what it takes of
//   with partitions (consumesCounters)  its pool          them, and itself
//
// All amounts are rounded up to the unit of the GRES. Slurm does not know which
// device of a node has room: that is checked after Slurm has chosen the node.
#pragma once

#include "agent/claims/pools.h"
#include "agent/claims/resource_claim.h"
#include "common/contract/capacity_gres.h"
#include "common/slurm/gres_counts.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The devices that claims have, whether the agent or another scheduler
// allocated them.
struct DeviceClaims {
    std::set<DeviceId> ours;
    // Of other schedulers: Slurm must not give them away.
    std::set<DeviceId> foreign;
    // What the shares of each device consume in total.
    std::map<DeviceId, Capacities> shares{}; // of all claims
    // Of other schedulers' claims.
    std::map<DeviceId, Capacities> foreign_shares{};

    bool operator==(const DeviceClaims &) const = default;
};

// The devices and pools behind the counts of one Node.
struct NodeStock {
    struct Pool {
        CounterSets counters;
        std::vector<DevicePtr> partitions; // devices that consume the counters
    };
    std::vector<DevicePtr> shared; // devices that are given in shares
    std::vector<Pool> pools;
};

// Returns why Slurm cannot count the shares of a device that is given in
// shares, as a clause, or "" if it can.
std::string uncounted_reason(const Device &device,
                             const std::vector<CapacityGres> &counted);
// Returns true if the device is given in shares and Slurm counts them.
bool has_counted_shares(const Device &device,
                        const std::vector<CapacityGres> &counted);

// Returns the amounts for a share of the device that consumes so much. Each
// GRES is at least 1, so that the job goes to a node with such a device.
GresCounts amounts_of_share(const Device &device, const Capacities &consumed,
                            const std::vector<CapacityGres> &counted);

// Returns what a device that only one claim can have takes of counters.
GresCounts amounts_of_partition(const Device &device,
                                const std::vector<CapacityGres> &counted);

// Returns true if one of the pool's counters is counted by a GRES.
bool has_counted_counters(const DevicePool &pool,
                          const std::vector<CapacityGres> &counted);

// Returns all that the node has, minus what claims of other schedulers have.
GresCounts amounts_of_stock(const NodeStock &stock, const DeviceClaims &claims,
                            const std::vector<CapacityGres> &counted);

void add_amounts(GresCounts &to, const GresCounts &more);

// Conversions from and to Slurm's text. amounts_in() reads a node's text such
// as "gpu:a100:2(S:0),gpumem:40G" and returns only the GRES that are counted;
// the others return the amounts as Gres= and GresConf=, without those that are
// 0.
GresCounts amounts_in(std::string_view gres,
                      const std::vector<CapacityGres> &counted);
std::string amounts_text(const GresCounts &amounts);
std::string amounts_conf(const GresCounts &amounts);

} // namespace bridge
