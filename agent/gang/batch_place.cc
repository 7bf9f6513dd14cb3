// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/batch_place.h"

#include "common/base/text.h"

#include <algorithm>
#include <string_view>

namespace bridge {

namespace {

// Distributes tasks in turns over the nodes that have CPUs left for one more,
// then over all nodes. Users choose the number of tasks, so those beyond the
// CPUs are computed without a loop.
std::vector<std::uint32_t> spread(std::uint32_t tasks,
                                  const std::vector<std::uint32_t> &room)
{
    std::vector<std::uint32_t> on(room.size());
    for (std::uint32_t round = 0; round < std::ranges::max(room); round++)
        for (std::size_t i = 0; i < on.size() && tasks != 0; i++)
            if (round < room[i]) {
                on[i]++;
                tasks--;
            }
    auto nodes = static_cast<std::uint32_t>(on.size());
    for (std::uint32_t i = 0; i < nodes; i++)
        on[i] += tasks / nodes + (i < tasks % nodes ? 1 : 0);
    return on;
}

} // namespace

std::string encode(const BatchPlace &place)
{
    std::string text = std::to_string(place.rank) + " " +
                       std::to_string(place.count) + " " + place.node;
    return place.first.empty() ? text : text + " " + place.first;
}

std::optional<BatchPlace> batch_place(const Pod &pod)
{
    std::string annotation = pod.annotation(names::batch_place_annotation);
    std::string_view text = annotation;
    auto rank = whole_number<std::uint32_t>(next_part(text, ' '));
    auto count = whole_number<std::uint32_t>(next_part(text, ' '));
    std::string node(next_part(text, ' '));
    bool known = rank && count && *rank < *count && !node.empty() &&
                 (*rank == 0) == text.empty();
    if (!known || !batch_mark(pod))
        return std::nullopt;
    return BatchPlace{*rank, *count, std::move(node), std::string(text)};
}

bool is_worker(const Pod &pod)
{
    auto place = batch_place(pod);
    return place && place->rank != 0;
}

bool is_made_for(const Pod &pod, const BatchPlace &place)
{
    auto said = batch_place(pod);
    return said ? *said == place : place.count == 1;
}

bool is_made_for(const Pod &pod, const Job &job)
{
    auto place = batch_place(pod);
    if (!place)
        return job.nodes.size() == 1;
    return place->count == job.nodes.size() &&
           job.nodes[place->rank] == place->node;
}

BatchPlace place_on(const BatchJob &batch, std::uint32_t rank,
                    const std::string &first)
{
    const auto &nodes = batch.job.nodes;
    return {rank, static_cast<std::uint32_t>(nodes.size()), nodes[rank], first};
}

std::string batch_pod_name(const BatchMark &mark, const BatchPlace &place)
{
    std::string name = batch_pod_name(mark);
    return place.rank != 0 ? name + "-" + std::to_string(place.rank) : name;
}

BatchJob on_node(const BatchJob &batch, std::uint32_t rank)
{
    BatchJob there = batch;
    Job &job = there.job;
    if (rank < batch.job.cpus_on.size())
        job.cpus = batch.job.cpus_on[rank];
    if (batch.job.nodes.size() < 2)
        return there;
    if (rank < batch.job.gres_on.size())
        job.gres_on = {batch.job.gres_on[rank]};
    else
        job.gres_on.clear();
    return there;
}

std::vector<std::uint32_t> cpus_on_each(const Job &job)
{
    return job.cpus_on.size() == job.nodes.size() && !job.cpus_on.empty()
               ? job.cpus_on
               : std::vector{job.cpus};
}

std::vector<std::uint32_t> tasks_on_each(const BatchJob &batch)
{
    const Job &job = batch.job;
    std::vector<std::uint32_t> room = cpus_on_each(job);
    for (std::uint32_t &cpus : room)
        cpus /= std::max<std::uint32_t>(job.cpus_per_task, 1);
    if (batch.says_tasks)
        return spread(job.tasks, room);
    if (batch.tasks_per_node != 0)
        return std::vector<std::uint32_t>(room.size(), batch.tasks_per_node);
    return room;
}

std::string in_short(const std::vector<std::uint32_t> &numbers)
{
    std::string list;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t same = i;
        while (same < numbers.size() && numbers[same] == numbers[i])
            same++;
        list += (list.empty() ? "" : ",") + std::to_string(numbers[i]);
        if (same - i > 1)
            list += "(x" + std::to_string(same - i) + ")";
        i = same;
    }
    return list;
}

} // namespace bridge
