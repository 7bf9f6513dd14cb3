// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/job_facts.h"

#include "common/contract/batch_names.h"
#include "common/contract/names.h"

#include <charconv>
#include <string_view>

namespace bridge {

namespace {

void add_fact(JobFacts &facts, std::string_view name, std::string_view value)
{
    if (name == "SLURM_JOB_ID") {
        std::from_chars(value.data(), value.data() + value.size(),
                        facts.job.id);
    } else if (name == "SLURM_JOB_SLUID") {
        facts.job.sluid = Sluid::parse(value).value_or(Sluid{});
    } else if (name == "SLURM_JOB_NODELIST") {
        // setenvf() prints a null pointer if the job has no nodes.
        facts.hostlist = value == "(null)" ? "" : value;
    } else if (name == "SLURM_JOB_CPUS_PER_NODE") {
        // "4", or "4(x2),2" for several nodes
        std::uint32_t cpus = 0;
        const char *end = value.data() + value.size();
        if (std::from_chars(value.data(), end, cpus).ptr == end)
            facts.cpus = cpus;
    } else if (name == names::hook_job_mark) {
        facts.ours = true;
        facts.batch = value.starts_with(names::batch_mark);
    }
}

} // namespace

JobFacts facts_from(const char *const *environment)
{
    JobFacts facts;
    for (; *environment; environment++) {
        std::string_view entry = *environment;
        std::size_t equals = entry.find('=');
        if (equals != entry.npos)
            add_fact(facts, entry.substr(0, equals), entry.substr(equals + 1));
    }
    return facts;
}

} // namespace bridge
