// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/planned_step.h"

#include "cli/srun/host_names.h"
#include "cli/srun/step_files.h"
#include "common/base/text.h"

#include <algorithm>

namespace bridge {

namespace {

std::uint32_t count_of_nodes(const Environment &environment)
{
    return std::max(number_of(environment, "SLURM_JOB_NUM_NODES"), 1u);
}

// Returns the nodes without their addresses, or none when the variables are
// incomplete.
std::vector<StepHost> named_hosts(const Environment &environment)
{
    std::uint32_t count = count_of_nodes(environment);
    auto names = expand_hosts(text_of(environment, "SLURM_JOB_NODELIST"));
    std::vector<StepHost> hosts;
    if (names && names->size() == count)
        for (const std::string &name : *names)
            hosts.push_back({name, ""});
    if (hosts.empty() && count == 1)
        hosts.push_back({"localhost", ""});
    return hosts;
}

JobNodes nodes_of_job(const std::vector<StepHost> &hosts,
                      const Environment &environment)
{
    JobNodes job;
    for (const StepHost &host : hosts)
        job.names.push_back(host.name);
    job.cpus = expand_counts(text_of(environment, "SLURM_JOB_CPUS_PER_NODE"));
    if (job.cpus.size() != hosts.size())
        job.cpus.clear();
    return job;
}

// Plans the step on the nodes of its component. Code::rejected with Slurm's
// message.
Result<StepPlan> plan_on(const std::vector<StepHost> &hosts,
                         const SrunOptions &options,
                         const Environment &environment)
{
    // srun runs the first node's tasks itself, so it must be on that node.
    const char *here = find_variable(environment, "SLURMD_NODENAME");
    if (hosts.size() > 1 && here && hosts.front().name != here)
        return fail(Code::rejected, "srun cannot be called by a task on "
                                    "another node than the script's");
    std::uint32_t first = options.first_rank;
    auto plan = plan_step(
        options.request,
        nodes_of_job({hosts.begin() + first, hosts.end()}, environment));
    if (plan)
        for (StepNode &node : plan->nodes)
            node.rank += first;
    return plan;
}

} // namespace

Result<std::optional<std::uint32_t>> seconds_of(const Environment &environment,
                                                const std::string &name)
{
    std::string text = text_of(environment, name);
    if (text.empty())
        return std::nullopt;
    auto seconds = whole_number<std::uint32_t>(text);
    if (!seconds)
        return fail(Code::rejected,
                    name + "=" + text + " is not a number of seconds");
    return seconds;
}

Result<std::optional<StepClock::time_point>>
launch_limit(const Environment &environment)
{
    auto seconds = seconds_of(environment, "SLURMK8S_STEP_WAIT");
    if (!seconds)
        return std::unexpected(seconds.error());
    if (!*seconds)
        return std::nullopt;
    return StepClock::now() + std::chrono::seconds(**seconds);
}

Result<PlannedStep> plan_and_hosts(const SrunOptions &options,
                                   const Environment &environment,
                                   std::optional<StepClock::time_point> limit)
{
    bool of_leader = options.first_rank == 0;
    std::uint32_t count = options.first_rank + count_of_nodes(environment);
    Result<std::vector<StepHost>> hosts =
        fail(Code::not_found, "one node needs no address");
    if (count > 1)
        hosts = wait_for_hosts(count, StepClock::now());
    if (auto named = named_hosts(environment);
        !hosts && of_leader && !named.empty()) {
        auto plan = plan_on(named, options, environment);
        if (!plan)
            return std::unexpected(plan.error());
        if (std::ranges::all_of(plan->nodes, [](const StepNode &node) {
                return node.rank == 0;
            }))
            return PlannedStep{std::move(*plan), std::move(named)};
    }
    if (!hosts)
        hosts = wait_for_hosts(count, limit);
    if (!hosts)
        return std::unexpected(hosts.error());
    auto plan = plan_on(*hosts, options, environment);
    if (!plan)
        return std::unexpected(plan.error());
    return PlannedStep{std::move(*plan), std::move(*hosts)};
}

} // namespace bridge
