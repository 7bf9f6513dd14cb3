// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/het_group.h"

#include "cli/srun/task_environment.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// Variables that sbatch and slurmd set for the leader by these names, and for
// each component with the suffix _HET_GROUP_n.
constexpr std::string_view of_component[] = {
    "SLURM_CPUS_PER_TASK",   "SLURM_DISTRIBUTION",   "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_JOB_NODELIST",    "SLURM_JOB_NUM_NODES",  "SLURM_JOB_PARTITION",
    "SLURM_MEM_PER_CPU",     "SLURM_MEM_PER_NODE",   "SLURM_NNODES",
    "SLURM_NODELIST",        "SLURM_NPROCS",         "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",
};

std::string with_group(std::string_view name, std::uint32_t group)
{
    return std::string(name) + "_HET_GROUP_" + std::to_string(group);
}

} // namespace

Result<HetGroup> het_group(const Environment &environment, std::uint32_t group)
{
    std::uint32_t size = std::max(number_of(environment, "SLURM_HET_SIZE"), 1u);
    if (group >= size)
        return fail(Code::rejected,
                    "--het-group=" + std::to_string(group) +
                        ": the components of the job are 0 to " +
                        std::to_string(size - 1));
    HetGroup found{environment};
    for (std::uint32_t i = 0; i < group; i++)
        found.first +=
            number_of(environment, with_group("SLURM_JOB_NUM_NODES", i));
    if (group == 0) // unchanged
        return found;
    for (std::string_view name : of_component) {
        std::erase_if(found.environment, [&](std::string_view entry) {
            return entry.substr(0, entry.find('=')) == name;
        });
        if (const char *said =
                find_variable(environment, with_group(name, group)))
            set_variable(found.environment, name, said);
    }
    if (number_of(found.environment, "SLURM_JOB_NUM_NODES") == 0 ||
        found.first == 0)
        return fail(Code::rejected,
                    "the variables SLURM_JOB_NUM_NODES_HET_GROUP_n "
                    "of the job are not set");
    return found;
}

Result<SrunOptions> parse_in_group(std::span<const char *const> arguments,
                                   Environment &environment)
{
    auto options = parse_srun(arguments, environment);
    if (!options || !options->het_group)
        return options;
    auto group = het_group(environment, *options->het_group);
    if (!group)
        return std::unexpected(group.error());
    environment = std::move(group->environment);
    options = parse_srun(arguments, environment);
    if (options)
        options->first_rank = group->first;
    return options;
}

} // namespace bridge
