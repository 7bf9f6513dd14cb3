// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/het.h"

#include "agent/gang/batch_place.h"

#include <cstddef>
#include <utility>

namespace bridge {

namespace {

// Returns the variables of one component, by the names that they have in a job
// that is not heterogeneous.
std::vector<std::pair<const char *, std::string>>
variables_of(const BatchJob &component)
{
    const Job &job = component.job;
    auto number = [](auto value) {
        return value == 0 ? std::string() : std::to_string(value);
    };
    auto cpu = job.memory_per_cpu.value;
    auto node = component.says_memory ? job.memory_per_node.value : 0;
    return {{"SLURM_JOB_ACCOUNT", component.account},
            {"SLURM_JOB_CPUS_PER_NODE", in_short(cpus_on_each(job))},
            {"SLURM_JOB_ID", number(job.ref.id)},
            {"SLURM_JOB_NAME", component.name},
            {"SLURM_JOB_NODELIST", component.hostlist},
            {"SLURM_JOB_NUM_NODES", number(job.nodes.size())},
            {"SLURM_JOB_PARTITION", component.partition},
            {"SLURM_JOB_QOS", component.qos},
            {"SLURM_JOB_RESERVATION", component.reservation},
            {"SLURM_MEM_PER_CPU", number(cpu)},
            {"SLURM_MEM_PER_NODE", number(cpu == 0 ? node : 0)},
            {"SLURM_TASKS_PER_NODE", in_short(tasks_on_each(component))}};
}

} // namespace

Result<std::vector<BatchJob>> load_components(const BatchJob &batch,
                                              Slurm &slurm)
{
    if (batch.job.components.empty())
        return std::vector{batch};
    std::vector<BatchJob> components;
    for (const Job &job : batch.job.components) {
        bool leader = components.empty();
        auto one = leader ? Result<BatchJob>(batch) : slurm.load_batch(job.ref);
        if (!one)
            return std::unexpected(one.error());
        if (leader)
            one->job = job;
        if (!is_allocated(one->job.state) || one->job.nodes != job.nodes)
            return fail(Code::busy, "the components of JobId=" +
                                        std::to_string(batch.job.ref.id) +
                                        " are changing");
        components.push_back(std::move(*one));
    }
    return components;
}

BatchJob on_node_of(const std::vector<BatchJob> &components, std::uint32_t rank)
{
    for (const BatchJob &component : components) {
        auto count = static_cast<std::uint32_t>(component.job.nodes.size());
        if (rank < count || &component == &components.back())
            return on_node(component, rank);
        rank -= count;
    }
    return {};
}

std::vector<std::string> het_variables(const std::vector<BatchJob> &components)
{
    if (components.size() < 2)
        return {};
    std::string size = std::to_string(components.size());
    std::vector<std::string> all{"SLURM_HET_SIZE=" + size,
                                 "SLURM_PACK_SIZE=" + size};
    for (std::size_t i = 0; i < components.size(); i++)
        for (const auto &[name, value] : variables_of(components[i]))
            for (const char *group : {"_HET_GROUP_", "_PACK_GROUP_"})
                if (!value.empty())
                    all.push_back(name + (group + std::to_string(i)) + "=" +
                                  value);
    return all;
}

} // namespace bridge
