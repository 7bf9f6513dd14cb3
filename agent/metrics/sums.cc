// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/sums.h"

#include "common/base/text.h"
#include "common/slurm/job_queue.h"
#include "common/slurm/tres_memory.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bridge {

namespace {

void add_all(GresByType &sums, const GresByType &more)
{
    for (const auto &[kind, number] : more)
        sums[kind] += number;
}

// What counts has both by name and by type, once: what has no type is what the
// types leave over. Slurm may say the types alone, or more of them than it has
// by name; then nothing is left.
GresByType split(const GresCounts &counts)
{
    GresByType found;
    std::map<std::string, std::uint64_t> typed; // by name
    for (const auto &[kind, number] : counts) {
        std::size_t colon = kind.find(':');
        std::string name = kind.substr(0, colon);
        std::string type =
            colon == kind.npos ? std::string() : kind.substr(colon + 1);
        if (!type.empty())
            typed[name] += number;
        found[{std::move(name), std::move(type)}] += number;
    }
    for (const auto &[name, number] : typed)
        if (auto rest = found.find({name, ""}); rest != found.end())
            rest->second -= std::min(rest->second, number);
    std::erase_if(found, [](const auto &one) {
        return one.first.second.empty() && one.second == 0;
    });
    return found;
}

// As slurmctld prints what a job has: "cpu=2,gres/gpu=2,gres/gpu:a100=2".
GresByType gres_in_tres(std::string_view tres)
{
    constexpr std::string_view prefix = "gres/";
    GresCounts counts;
    for (std::string_view one : all_parts(tres, ',')) {
        std::size_t equals = one.find('=');
        if (!one.starts_with(prefix) || equals == one.npos)
            continue;
        if (auto number = whole_number<std::uint64_t>(one.substr(equals + 1)))
            counts[std::string(
                one.substr(prefix.size(), equals - prefix.size()))] = *number;
    }
    return split(counts);
}

} // namespace

KnownNode::KnownNode(CountedNode counted)
    : node(std::move(counted)), gres(split(node_gres(node.gres))),
      allocated_gres(split(node_gres(node.gres_used)))
{
}

NodeSums::NodeSums() : states(node_state_tests().size()) {}

void NodeSums::add(const KnownNode &known)
{
    const CountedNode &node = known.node;
    nodes++;
    count_states(states, node_state_tests(), node.state, 1);
    cpus += node.cpus;
    usable_cpus += node.usable_cpus;
    allocated_cpus += node.allocated_cpus;
    memory += bytes_of(node.memory);
    usable_memory += bytes_of(node.usable_memory);
    allocated_memory += bytes_of(node.allocated_memory);
    add_all(gres, known.gres);
    add_all(allocated_gres, known.allocated_gres);
}

JobUse use_of(const CountedJob &job)
{
    return {bytes_of(tres_memory(job.tres).value_or(MebiBytes{})),
            gres_in_tres(job.tres)};
}

JobUse &JobUse::operator+=(const JobUse &more)
{
    memory += more.memory;
    add_all(gres, more.gres);
    return *this;
}

void JobTotals::add(const CountedJob &job, const JobUse &its)
{
    jobs += job.tasks;
    cpus += job.cpus;
    nodes += job.nodes;
    use += its;
}

JobTotals &JobTotals::operator+=(const JobTotals &more)
{
    jobs += more.jobs;
    cpus += more.cpus;
    nodes += more.nodes;
    use += more.use;
    return *this;
}

JobSums::JobSums() : states(job_state_tests().size()) {}

void JobSums::add(const CountedJob &job, const JobUse &its)
{
    JobTotals::add(job, its);
    count_states(states, job_state_tests(), job.state, job.tasks);
    if (!is_pending(job.state))
        return;
    pending[std::string(job.reason)] += job.tasks;
    if (job.held)
        held += job.tasks;
}

void count_states(std::vector<std::uint64_t> &counts,
                  std::span<const StateTest> tests, std::uint32_t state,
                  std::uint64_t how_many)
{
    for (std::size_t i = 0; i < tests.size(); i++)
        if (tests[i].holds(state))
            counts[i] += how_many;
}

} // namespace bridge
