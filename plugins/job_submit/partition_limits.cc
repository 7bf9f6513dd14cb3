// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/partition_limits.h"

#include "common/base/ascii.h"
#include "common/base/text.h"

#include <string_view>

namespace bridge {

namespace {

std::string text(const char *chars)
{
    return chars ? chars : "";
}

std::vector<std::string> names_in(const char *list)
{
    std::vector<std::string> names;
    for (std::string_view rest = list ? list : ""; !rest.empty();)
        if (std::string_view name = next_part(rest, ','); !name.empty())
            names.emplace_back(name);
    return names;
}

// Slurm compares the names of accounts and QOS without regard to case.
std::vector<std::string> lower_names_in(const char *list)
{
    std::vector<std::string> names = names_in(list);
    for (std::string &name : names)
        name = lower_case(name);
    return names;
}

std::uint64_t memory_limit(std::uint64_t limit)
{
    return limit == MEM_PER_CPU || limit == INFINITE64 || limit == NO_VAL64
               ? 0
               : limit;
}

} // namespace

SlurmdSize size_of(const node_info_t &node)
{
    SlurmdSize size;
    size.cpus = node.cpus_efctv ? node.cpus_efctv : node.cpus;
    size.memory = node.real_memory > node.mem_spec_limit
                      ? node.real_memory - node.mem_spec_limit
                      : 0;
    size.features = text(node.features);
    size.gres = text(node.gres);
    return size;
}

PartitionLimits limits_of(const partition_info_t &info,
                          const std::set<std::string> &refusing_qos)
{
    PartitionLimits limits;
    limits.up = (info.state_up & PARTITION_UP) == PARTITION_UP;
    limits.flags = info.flags;
    limits.max_time = info.max_time;
    limits.default_time = info.default_time;
    limits.min_nodes = info.min_nodes;
    limits.max_nodes = info.max_nodes;
    limits.total_nodes = info.total_nodes;
    limits.total_cpus = info.total_cpus;
    limits.max_cpus_per_node = info.max_cpus_per_node;
    limits.max_memory = memory_limit(info.max_mem_per_cpu);
    limits.allow_accounts = lower_names_in(info.allow_accounts);
    limits.deny_accounts = lower_names_in(info.deny_accounts);
    limits.allow_qos = lower_names_in(info.allow_qos);
    limits.deny_qos = lower_names_in(info.deny_qos);
    limits.allow_groups = names_in(info.allow_groups);
    limits.allow_alloc_nodes = text(info.allow_alloc_nodes);
    limits.qos_refuses =
        info.qos_char && refusing_qos.contains(lower_case(info.qos_char));
    return limits;
}

} // namespace bridge
