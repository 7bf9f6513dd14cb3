// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/partition_record.h"

#include "common/slurm/strings.h"

#include <cstdint>
#include <format>

namespace bridge {

namespace {

// Only preempt/partition_prio preempts by tier; preempt/qos uses the QoS alone.
bool is_preemptable(const partition_info_t &one, const slurm_conf_t &conf)
{
    std::uint16_t mode =
        one.preempt_mode == NO_VAL16 ? conf.preempt_mode : one.preempt_mode;
    constexpr int manners =
        PREEMPT_MODE_GANG | PREEMPT_MODE_PRIORITY | PREEMPT_MODE_WITHIN;
    return text(conf.preempt_type) == "preempt/partition_prio" &&
           (mode & ~manners) != PREEMPT_MODE_OFF;
}

} // namespace

Partition partition_of(const partition_info_t &one, const slurm_conf_t &conf)
{
    constexpr std::uint32_t restrictions =
        PART_FLAG_ROOT_ONLY | PART_FLAG_REQ_RESV;
    constexpr std::uint32_t exclusions =
        PART_FLAG_EXCLUSIVE_USER | PART_FLAG_EXCLUSIVE_TOPO;
    Partition partition;
    partition.name = text(one.name);
    partition.nodes = expand(one.nodes);
    partition.up = one.state_up == PARTITION_UP;
    partition.tier = one.priority_tier;
    partition.restricted = (one.flags & restrictions) != 0;
    partition.preemptable = is_preemptable(one, conf);
    partition.billing = text(one.billing_weights_str);
    partition.qos = text(one.qos_char);
    // Includes the limits for jobs in the partition.
    partition.manner =
        std::format("{} {} {} {} {} {}", one.max_share, one.flags & exclusions,
                    one.preempt_mode, one.max_mem_per_cpu,
                    one.max_cpus_per_node, one.max_cpus_per_socket);
    return partition;
}

} // namespace bridge
