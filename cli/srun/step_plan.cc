// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_plan.h"

#include "cli/srun/host_names.h"
#include "cli/srun/launch.h"

#include <algorithm>
#include <cstddef>

namespace bridge {

namespace {

using Names = std::vector<std::string>;

std::string words(std::initializer_list<std::string> parts)
{
    std::string text;
    for (const std::string &part : parts)
        text += part;
    return text;
}

// Follows _opt_verify() of srun: what one option implies for others.
void settle_numbers(StepRequest &request, Names &wanted, std::size_t allocated,
                    StepPlan &plan)
{
    if (!request.min_nodes) {
        std::size_t count = wanted.size();
        if (count == 0)
            count = request.tasks
                        ? std::min<std::size_t>(request.tasks->value, allocated)
                        : allocated;
        request.min_nodes = StepNumber{static_cast<std::uint32_t>(count)};
    }
    std::uint32_t &nodes = request.min_nodes->value;
    if (request.tasks && request.tasks->value < nodes) {
        std::string count = std::to_string(request.tasks->value);
        plan.warnings.push_back(
            words({"can't run ", count, " processes on ", std::to_string(nodes),
                   " nodes, setting nnodes to ", count}));
        nodes = request.tasks->value;
    }
    if (request.tasks)
        request.max_nodes = std::min(request.max_nodes, request.tasks->value);
    if (request.max_nodes == 0)
        request.max_nodes = nodes;
    if (!request.tasks_per_node)
        return;
    if (request.tasks && request.tasks->from_environment &&
        !request.min_nodes->from_environment) {
        request.tasks.reset();
    } else if (request.tasks &&
               std::uint64_t{request.tasks->value} >
                   std::uint64_t{request.max_nodes} * *request.tasks_per_node) {
        plan.warnings.push_back(
            words({"can't honor --ntasks-per-node set to ",
                   std::to_string(*request.tasks_per_node),
                   " which doesn't match the requested tasks ",
                   std::to_string(request.tasks->value),
                   " with the maximum number of requested nodes ",
                   std::to_string(request.max_nodes),
                   ". Ignoring --ntasks-per-node."}));
        request.tasks_per_node.reset();
    }
}

// Returns how many tasks of that size fit on the node.
std::uint32_t slots_of(const StepRequest &request, const JobNodes &job,
                       std::uint32_t rank)
{
    std::uint32_t slots = max_step_tasks;
    if (rank < job.cpus.size())
        slots = job.cpus[rank] / std::max(request.cpus_per_task, 1u);
    return request.tasks_per_node ? std::min(slots, *request.tasks_per_node)
                                  : slots;
}

// Returns the ranks that the step may have; requested nodes come first.
Result<std::vector<std::uint32_t>> candidates(const StepRequest &request,
                                              const JobNodes &job,
                                              const Names &wanted,
                                              const Names &without)
{
    std::vector<std::uint32_t> ranks;
    auto rank_of = [&](const std::string &name) {
        return static_cast<std::size_t>(std::ranges::find(job.names, name) -
                                        job.names.begin());
    };
    for (const std::string &name : wanted) {
        std::size_t rank = rank_of(name);
        if (rank == job.names.size())
            return fail(Code::rejected,
                        "Requested node " + name + " is not of this job");
        if (std::ranges::contains(without, name))
            return fail(Code::rejected, "Requested node " + name +
                                            " is also in the excluded list.");
        ranks.push_back(static_cast<std::uint32_t>(rank));
    }
    for (std::uint32_t rank = request.first.value_or(0);
         rank < job.names.size(); rank++)
        if (!std::ranges::contains(ranks, rank) &&
            !std::ranges::contains(without, job.names[rank]))
            ranks.push_back(rank);
    return ranks;
}

// Refuses options that exclude each other, and a step without tasks or nodes.
Result<> check_request(const StepRequest &request, const Names &wanted,
                       const Names &without)
{
    if (request.first && (!wanted.empty() || !without.empty()))
        return fail(Code::rejected, "-r,--relative not allowed with "
                                    "-w,--nodelist or -x,--exclude.");
    if ((request.tasks && request.tasks->value == 0) ||
        (request.min_nodes && request.min_nodes->value == 0) ||
        request.tasks_per_node == 0)
        return fail(Code::rejected, "no tasks or no nodes were requested");
    return {};
}

// Refuses a step that needs more nodes than it may have. settle_numbers() has
// set the minimum.
Result<> check_node_count(const StepRequest &request, const JobNodes &job,
                          std::size_t allocated)
{
    if (request.first &&
        *request.first + std::uint64_t{request.min_nodes->value} >
            job.names.size())
        return fail(Code::rejected,
                    "--relative and the number of nodes are incompatible with "
                    "the count of allocated nodes (" +
                        std::to_string(*request.first) + "+" +
                        std::to_string(request.min_nodes->value) + ">" +
                        std::to_string(job.names.size()) + ")");
    if (request.min_nodes->value > allocated || allocated == 0)
        return fail(Code::rejected,
                    "Only allocated " + std::to_string(allocated) +
                        " nodes asked for " +
                        std::to_string(request.min_nodes->value));
    return {};
}

// Reduces the candidates to the nodes of the step, in the order of their ranks,
// and returns how many tasks these have CPUs for. Takes more nodes than the
// minimum only if the tasks would lack CPUs.
std::uint64_t choose_nodes(const StepRequest &request, const JobNodes &job,
                           std::vector<std::uint32_t> &ranks)
{
    std::size_t count = request.min_nodes->value;
    std::uint64_t cpus_for = 0;
    for (std::size_t i = 0; i < ranks.size(); i++) {
        if (i >= count && (i >= request.max_nodes || !request.tasks ||
                           cpus_for >= request.tasks->value))
            break;
        count = std::max(count, i + 1);
        cpus_for += slots_of(request, job, ranks[i]);
    }
    ranks.resize(count);
    std::ranges::sort(ranks);
    return cpus_for;
}

// Distributes the tasks of the plan over the nodes with these ranks.
void place_tasks(const StepRequest &request, const JobNodes &job,
                 const std::vector<std::uint32_t> &ranks, StepPlan &plan)
{
    std::vector<std::uint32_t> slots;
    for (std::uint32_t rank : ranks)
        slots.push_back(std::max(slots_of(request, job, rank), 1u));
    auto layout =
        lay_out_tasks(plan.tasks, slots, request.order, request.plane);
    for (std::size_t i = 0; i < ranks.size(); i++)
        plan.nodes.push_back({ranks[i], std::move(layout[i])});
}

} // namespace

std::vector<std::uint32_t> StepPlan::tasks_per_node() const
{
    std::vector<std::uint32_t> counts;
    for (const StepNode &node : nodes)
        counts.push_back(static_cast<std::uint32_t>(node.tasks.size()));
    return counts;
}

Result<StepPlan> plan_step(StepRequest request, const JobNodes &job)
{
    StepPlan plan;
    auto wanted = expand_hosts(request.nodes);
    auto without = expand_hosts(request.without);
    if (!wanted || !without)
        return fail(Code::rejected,
                    (wanted ? without : wanted).error().message);
    if (auto fine = check_request(request, *wanted, *without); !fine)
        return std::unexpected(fine.error());

    auto ranks = candidates(request, job, *wanted, *without);
    if (!ranks)
        return std::unexpected(ranks.error());
    // If -N is from the environment, nodes excluded by -x are subtracted.
    std::size_t allocated = ranks->size();
    if (request.min_nodes && request.min_nodes->from_environment &&
        !request.first && request.min_nodes->value > allocated)
        request.min_nodes->value = static_cast<std::uint32_t>(allocated);
    settle_numbers(request, *wanted, allocated, plan);

    if (auto fine = check_node_count(request, job, allocated); !fine)
        return std::unexpected(fine.error());
    if (wanted->size() > request.max_nodes)
        plan.warnings.push_back(
            words({"Required nodelist includes more nodes than permitted by "
                   "max-node count (",
                   std::to_string(wanted->size()), " > ",
                   std::to_string(request.max_nodes),
                   "). Eliminating nodes from the nodelist."}));

    request.min_nodes->value =
        std::max(request.min_nodes->value,
                 std::min(static_cast<std::uint32_t>(wanted->size()),
                          request.max_nodes));
    std::uint64_t cpus_for = choose_nodes(request, job, *ranks);

    std::uint64_t tasks =
        request.tasks
            ? request.tasks->value
            : std::uint64_t{ranks->size()} * request.tasks_per_node.value_or(1);
    if (tasks > max_step_tasks || (cpus_for < tasks && !request.overcommit))
        return fail(Code::rejected,
                    "Unable to create step: More processors requested than "
                    "permitted");
    plan.tasks = static_cast<std::uint32_t>(tasks);
    place_tasks(request, job, *ranks, plan);
    return plan;
}

} // namespace bridge
