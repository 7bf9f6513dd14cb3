// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/burst_fit.h"

#include "common/base/text.h"
#include "plugins/job_submit/job_desc.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace bridge {

namespace {

using Desc = job_desc_msg_t;

// A number of the job, or the other one if the job says none.
std::uint64_t or_else(std::uint32_t number, std::uint64_t other)
{
    return number == NO_VAL ? other : number;
}

std::uint64_t or_else(std::uint16_t number, std::uint64_t other)
{
    return number == NO_VAL16 || number == 0 ? other : number;
}

std::uint64_t least_nodes(const Desc &desc)
{
    return std::max<std::uint64_t>(1, or_else(desc.min_nodes, 1));
}

std::uint64_t least_cpus(const Desc &desc)
{
    std::uint64_t tasks = or_else(desc.num_tasks, least_nodes(desc));
    return std::max({or_else(desc.min_cpus, 1), least_nodes(desc),
                     tasks * or_else(desc.cpus_per_task, 1)});
}

// Of each node that the job gets.
std::uint64_t least_cpus_of_node(const Desc &desc)
{
    return std::max(or_else(desc.pn_min_cpus, 1),
                    or_else(desc.ntasks_per_node, 1) *
                        or_else(desc.cpus_per_task, 1));
}

bool has_memory(const Desc &desc)
{
    return desc.pn_min_memory != NO_VAL64 && desc.pn_min_memory != 0;
}

// Returns the least memory of each node, in MiB; 0 if the job says nothing.
std::uint64_t least_memory_of_node(const Desc &desc)
{
    if (!has_memory(desc))
        return 0;
    if (!(desc.pn_min_memory & MEM_PER_CPU))
        return desc.pn_min_memory;
    return (desc.pn_min_memory & ~MEM_PER_CPU) * least_cpus_of_node(desc);
}

// The limits that slurmctld checks for each partition of a job
// (_part_access_check() and _valid_job_part() in job_mgr.c). min_nodes and
// max_nodes of the job must fit as they are: slurmctld would change the first.
std::string limit_reason(const Desc &desc, const PartitionLimits &limits)
{
    std::uint64_t nodes = least_nodes(desc);
    if (nodes < limits.min_nodes || nodes > limits.max_nodes ||
        or_else(desc.max_nodes, nodes) > limits.max_nodes ||
        or_else(desc.num_tasks, limits.min_nodes) < limits.min_nodes)
        return "the job's number of nodes is beyond MinNodes or MaxNodes";
    if (limits.max_memory == 0 || !has_memory(desc))
        return {};
    // slurmctld converts one form into the other, and gives the job more CPUs.
    bool per_cpu = desc.pn_min_memory & MEM_PER_CPU;
    if (per_cpu != ((limits.max_memory & MEM_PER_CPU) != 0) ||
        desc.pn_min_memory > limits.max_memory)
        return "the job's memory is beyond MaxMemPerNode or MaxMemPerCPU";
    return {};
}

// Without a limit of its own a job gets the DefaultTime of its own partition,
// or the MaxTime of the partition where it starts.
std::string time_reason(const Desc &desc, const PartitionLimits &own,
                        const PartitionLimits &added)
{
    std::uint32_t time = desc.time_limit;
    if (time == NO_VAL)
        time = own.default_time;
    if (time == NO_VAL)
        time = own.max_time;
    if (time > own.max_time)
        return "the job's time limit is longer than its own partition's";
    if (time > added.max_time)
        return "the job's time limit is longer than MaxTime";
    return {};
}

bool any_in(const std::vector<std::string> &list,
            const std::vector<std::string> &names)
{
    return std::ranges::any_of(list, [&](const std::string &name) {
        return std::ranges::contains(names, name);
    });
}

std::string group_reason(const PartitionLimits &limits, const BurstFacts &facts)
{
    if (limits.allow_groups.empty())
        return {};
    switch (facts.in_groups(limits.allow_groups)) {
    case Membership::yes:
        return {};
    case Membership::no:
        return "its groups exclude the user";
    case Membership::unknown:
        break;
    }
    return "the user's groups are not known yet";
}

std::string account_reason(const PartitionLimits &limits,
                           const BurstFacts &facts)
{
    if (!facts.enforces_accounts ||
        (limits.allow_accounts.empty() && limits.deny_accounts.empty()))
        return {};
    if (facts.accounts.empty())
        return "the job's account is not known";
    bool allowed = limits.allow_accounts.empty()
                       ? !any_in(facts.accounts, limits.deny_accounts)
                       : any_in(facts.accounts, limits.allow_accounts);
    return allowed ? "" : "its accounts exclude the job's";
}

std::string qos_reason(const PartitionLimits &limits, const BurstFacts &facts)
{
    if (limits.qos_refuses)
        return "its QOS refuses jobs that are over a limit";
    if (limits.allow_qos.empty() && limits.deny_qos.empty())
        return {};
    if (facts.qos.empty())
        return "the job's QOS is not known";
    bool allowed = limits.allow_qos.empty()
                       ? !std::ranges::contains(limits.deny_qos, facts.qos)
                       : std::ranges::contains(limits.allow_qos, facts.qos);
    return allowed ? "" : "it does not allow the job's QOS";
}

std::string access_reason(const Desc &desc, const std::string &name,
                          const PartitionLimits &limits,
                          const BurstFacts &facts)
{
    if (!limits.up)
        return "it is not UP";
    if (limits.flags & (PART_FLAG_ROOT_ONLY | PART_FLAG_REQ_RESV))
        return "it is for root or for reservations";
    if (limits.flags & PART_FLAG_NO_ROOT && desc.user_id == 0)
        return "it is not for root";
    if (const std::string &hosts = limits.allow_alloc_nodes;
        !hosts.empty() && hosts != "ALL" &&
        !(desc.alloc_node &&
          std::ranges::contains(facts.expand(hosts.c_str()), desc.alloc_node)))
        return "AllocNodes excludes the host of sbatch";
    if (std::string reason = group_reason(limits, facts); !reason.empty())
        return reason;
    if (!facts.same_association(name))
        return "the user has an association of one of the partitions";
    std::string reason = account_reason(limits, facts);
    return reason.empty() ? qos_reason(limits, facts) : reason;
}

// Returns the names of the GRES that the job needs.
std::vector<std::string_view> gres_of(const Desc &desc)
{
    std::vector<std::string_view> names;
    for (const char *list : {desc.tres_per_job, desc.tres_per_node,
                             desc.tres_per_socket, desc.tres_per_task})
        for (std::string_view rest = list ? list : ""; !rest.empty();) {
            std::string_view one = next_part(rest, ',');
            if (!one.starts_with("gres/") && !one.starts_with("gres:"))
                continue; // CPUs, memory, licenses
            one.remove_prefix(5);
            names.push_back(one.substr(0, one.find_first_of(":=")));
        }
    return names;
}

bool has_gres(const SlurmdSize &size, std::string_view name)
{
    for (std::string_view rest = size.gres; !rest.empty();) {
        std::string_view one = next_part(rest, ',');
        if (one.substr(0, one.find_first_of(":(")) == name)
            return true;
    }
    return false;
}

bool has_feature(const SlurmdSize &size, std::string_view name)
{
    return std::ranges::contains(all_parts(size.features, ','), name);
}

// Tells whether a node of this size can be one of the job's. Only lists of
// features that a node must have are understood.
bool can_hold(const SlurmdSize &size, const Desc &desc)
{
    if (size.cpus < least_cpus_of_node(desc) ||
        size.memory < least_memory_of_node(desc))
        return false;
    std::string_view features = desc.features ? desc.features : "";
    while (!features.empty()) {
        std::size_t end = features.find_first_of("&,");
        if (!has_feature(size, features.substr(0, end)))
            return false;
        features.remove_prefix(end == features.npos ? features.size()
                                                    : end + 1);
    }
    return std::ranges::all_of(gres_of(desc), [&](std::string_view name) {
        return has_gres(size, name);
    });
}

// A partition without any node may get some. With EnforcePartLimits=ALL
// slurmctld refuses its jobs until then.
std::string size_reason(const Desc &desc, const PartitionView &partition,
                        bool enforces_all)
{
    const PartitionLimits &limits = partition.limits;
    if (std::string_view(desc.features ? desc.features : "")
            .find_first_of("|[](){}*!") != std::string_view::npos)
        return "the job's constraint is not a list of features";
    if (limits.total_nodes == 0 && limits.sizes.empty())
        return enforces_all ? "it has no node" : "";
    std::uint64_t nodes = 0, cpus = 0;
    for (const auto &[size, count] : limits.sizes)
        if (can_hold(size, desc)) {
            nodes += count;
            cpus += std::uint64_t{count} *
                    std::min(size.cpus, limits.max_cpus_per_node);
        }
    if (nodes < least_nodes(desc) || cpus < least_cpus(desc) ||
        limits.total_nodes < least_nodes(desc) ||
        limits.total_cpus < least_cpus(desc))
        return "its nodes with a slurmd are too few or too small";
    return {};
}

} // namespace

std::string unfit_reason(const job_desc_msg_t &desc, const PartitionView &own,
                         const std::string &name, const PartitionView &added,
                         const BurstFacts &facts)
{
    if (std::string reason = access_reason(desc, name, added.limits, facts);
        !reason.empty())
        return reason;
    for (const PartitionView *partition : {&own, &added})
        if (std::string reason = limit_reason(desc, partition->limits);
            !reason.empty())
            return reason;
    if (std::string reason = time_reason(desc, own.limits, added.limits);
        !reason.empty())
        return reason;
    return size_reason(desc, added, facts.enforces_all);
}

} // namespace bridge
