// SPDX-License-Identifier: GPL-2.0-or-later
// What Slurm counts of devices that many have a part of, by GRES without
// indexes (DeviceCapacity in k8s.conf). Pure.
//
//   device                              a node has        a job asks for
//   ----------------------------------  ----------------  --------------------
//   given in shares                     its capacity      what its share
//   (allowMultipleAllocations)                            consumes
//   a partition, or a whole that can    the counters of   what it takes of
//   be partitioned (consumesCounters)   its pool          them, and itself
//
// All of it is rounded up to the unit of the GRES. Which of a node's devices
// has room Slurm does not know: that is found out when it has chosen the node.
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

// The devices that claims have, allocated by us or by another scheduler.
struct DeviceClaims {
    std::set<DeviceId> ours;
    std::set<DeviceId> foreign; // not Slurm's to give while they are
    // Of those that are given in shares: what these consume in sum.
    std::map<DeviceId, Capacities> shares{};         // whosever they are
    std::map<DeviceId, Capacities> foreign_shares{}; // of others' claims

    bool operator==(const DeviceClaims &) const = default;
};

// What stands behind the counts of one Node.
struct NodeStock {
    struct Pool {
        CounterSets counters;
        std::vector<DevicePtr> partitions; // what takes from them
    };
    std::vector<DevicePtr> shared; // given in shares
    std::vector<Pool> pools;
};

// Why Slurm cannot count the shares of a device that is given in shares, as a
// clause; "": it can.
std::string why_uncounted(const Device &device,
                          const std::vector<CapacityGres> &counted);
// It is given in shares, and Slurm counts them.
bool has_counted_shares(const Device &device,
                        const std::vector<CapacityGres> &counted);

// Of a share of that device which consumes so much; at least 1 of each GRES, so
// that its job goes where there is such a device.
GresCounts amounts_of_share(const Device &device, const Capacities &consumed,
                            const std::vector<CapacityGres> &counted);

// What a device that is given to one claim takes of counters.
GresCounts amounts_of_partition(const Device &device,
                                const std::vector<CapacityGres> &counted);

// Whether one of the pool's counters is counted.
bool has_counted_counters(const DevicePool &pool,
                          const std::vector<CapacityGres> &counted);

// All that the node has, less what claims of others have.
GresCounts amounts_of_stock(const NodeStock &stock, const DeviceClaims &claims,
                            const std::vector<CapacityGres> &counted);

void add_amounts(GresCounts &to, const GresCounts &more);

// How Slurm says and is told them: of a node's "gpu:a100:2(S:0),gpumem:40G"
// those that are counted; Gres= and GresConf= of these, without those that are
// 0.
GresCounts amounts_in(std::string_view gres,
                      const std::vector<CapacityGres> &counted);
std::string amounts_text(const GresCounts &amounts);
std::string amounts_conf(const GresCounts &amounts);

} // namespace bridge
