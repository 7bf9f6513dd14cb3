// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/job_share.h"

#include <algorithm>

namespace bridge {

namespace {

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by)
{
    return number / by + (number % by != 0);
}

std::uint64_t count_of(const GresCounts &counts, const std::string &kind)
{
    auto found = counts.find(kind);
    return found == counts.end() ? 0 : found->second;
}

// How many nodes the job needs at least; nothing: no number suffices.
std::optional<std::uint64_t> nodes_needed(const WaitingJob &job,
                                          const NodeCapacity &size)
{
    std::uint64_t usable = size.cpus;
    if (job.memory_per_cpu.value != 0)
        usable = std::min(usable, size.memory.value / job.memory_per_cpu.value);
    if (usable == 0)
        return std::nullopt;
    std::uint64_t nodes =
        std::max<std::uint64_t>(job.nodes, divided_up(job.cpus, usable));
    if (job.tasks_per_node != 0)
        nodes = std::max(nodes, divided_up(job.tasks, job.tasks_per_node));
    for (const auto &[kind, count] : job.gres_per_task) {
        std::uint64_t tasks =
            count == 0 ? job.tasks : count_of(size.gres, kind) / count;
        if (tasks == 0)
            return std::nullopt;
        nodes = std::max(nodes, divided_up(job.tasks, tasks));
    }
    for (const auto &[kind, count] : job.gres_per_job) {
        std::uint64_t there = count_of(size.gres, kind);
        if (there == 0 && count != 0)
            return std::nullopt;
        if (count != 0)
            nodes = std::max(nodes, divided_up(count, there));
    }
    return nodes;
}

} // namespace

bool covers(const NodeCapacity &has, const NodeShare &needs)
{
    return needs.cpus <= has.cpus && needs.memory.value <= has.memory.value &&
           std::ranges::all_of(needs.gres, [&](const auto &one) {
               return one.second <= count_of(has.gres, one.first);
           });
}

std::optional<JobShare> share_of(const WaitingJob &job,
                                 const NodeCapacity &size)
{
    auto nodes = nodes_needed(job, size);
    if (!nodes || *nodes > UINT32_MAX ||
        (job.max_nodes != 0 && *nodes > job.max_nodes) ||
        !may_have_features(job.features, size.features))
        return std::nullopt;
    JobShare made;
    made.nodes = static_cast<std::uint32_t>(*nodes);
    made.share.cpus =
        std::max(job.cpus_per_node,
                 static_cast<std::uint32_t>(divided_up(job.cpus, *nodes)));
    made.share.memory.value = job.memory_per_cpu.value != 0
                                  ? job.memory_per_cpu.value * made.share.cpus
                                  : job.memory_per_node.value;
    made.share.gres = job.gres_per_node;
    for (const auto &[kind, count] : job.gres_per_task)
        made.share.gres[kind] += count * divided_up(job.tasks, *nodes);
    for (const auto &[kind, count] : job.gres_per_job)
        made.share.gres[kind] += divided_up(count, *nodes);
    if (!covers(size, made.share))
        return std::nullopt;
    return made;
}

} // namespace bridge
