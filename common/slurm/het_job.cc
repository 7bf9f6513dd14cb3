// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/het_job.h"

#include "common/contract/batch_het.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace bridge {

namespace {

using Components = std::vector<Job>;

template <class Is> bool any(const Components &jobs, Is is)
{
    return std::ranges::any_of(jobs,
                               [&](const Job &job) { return is(job.state); });
}

JobState end_of(const Components &jobs)
{
    for (const Job &job : jobs)
        if (is_ended(job.state) && job.state != JobState::cancelled)
            return job.state;
    return JobState::cancelled;
}

JobState state_of(const Components &jobs, bool whole)
{
    bool ended = any(jobs, is_ended);
    bool all_ended = std::ranges::all_of(
        jobs, [](const Job &job) { return is_ended(job.state); });
    if (!whole)
        return all_ended ? JobState::failed : JobState::unknown;
    if (ended)
        return end_of(jobs);
    auto is = [](JobState which) {
        return [which](JobState state) { return state == which; };
    };
    bool allocated = any(jobs, is_allocated);
    if (any(jobs, is(JobState::unknown)) ||
        (allocated && any(jobs, is(JobState::pending))))
        return JobState::unknown;
    for (JobState state :
         {JobState::suspended, JobState::configuring, JobState::running})
        if (any(jobs, is(state)))
            return state;
    return JobState::pending;
}

// "None" is slurmctld's reason for jobs that it has not looked at yet.
bool has_reason(const Job &job)
{
    return !job.reason.empty() && job.reason != "None";
}

std::vector<std::uint32_t> cpus_on(const Job &component)
{
    return component.nodes.size() == 1 ? std::vector{component.cpus}
                                       : component.cpus_on;
}

void add(Job &job, const Job &component)
{
    job.nodes.insert(job.nodes.end(), component.nodes.begin(),
                     component.nodes.end());
    auto cpus = cpus_on(component);
    job.cpus_on.insert(job.cpus_on.end(), cpus.begin(), cpus.end());
    // Slurm may report nothing for a component without GRES.
    if (component.gres_on.size() == component.nodes.size())
        std::ranges::copy(component.gres_on, std::back_inserter(job.gres_on));
    else if (!component.devices)
        job.gres_on.resize(job.gres_on.size() + component.nodes.size());
    job.cpus += component.cpus;
    job.tasks += component.tasks;
    job.cpus_per_task = std::max(job.cpus_per_task, component.cpus_per_task);
    job.expected_start = std::max(job.expected_start, component.expected_start);
    job.devices |= component.devices;
    job.prefers |= component.prefers;
    job.resumed |= component.resumed;
    job.wants_nodes |= component.wants_nodes;
    if (!has_reason(job) && has_reason(component))
        job.reason = component.reason;
}

Job join(Components components)
{
    Job job = components.front();
    // In jobs of sbatch the leader's tag tells whether they have Pods.
    auto is_tagged = [](const Job &one) {
        return !one.tag.uid.empty() || !one.tag.script.empty();
    };
    if (auto tagged = std::ranges::find_if(components, is_tagged);
        tagged != components.end())
        job.tag = tagged->tag; // somebody may have changed the tag of another
                               // component
    job.nodes.clear();
    job.cpus_on.clear();
    job.gres_on.clear();
    job.cpu_ids_on.clear();
    job.cpus = job.tasks = 0;
    for (const Job &component : components)
        add(job, component);
    if (job.cpus_on.size() != job.nodes.size())
        job.cpus_on.clear(); // not all of them were read
    if (job.gres_on.size() != job.nodes.size())
        job.gres_on.clear(); // or not all could be parsed
    job.components = std::move(components);
    job.state = state_of(job.components, is_whole(job));
    return job;
}

Components sorted(std::vector<JobRecord> records)
{
    std::ranges::sort(records, {}, &JobRecord::offset);
    Components components;
    for (JobRecord &record : records)
        components.push_back(std::move(record.job));
    return components;
}

// Tells whether this is the rest of a refused heterogeneous job: it was
// requested as a component, but slurmctld has not made it part of a job.
bool is_rest(const JobRecord &record)
{
    return record.leader == 0 && record.job.tag.components != 0;
}

} // namespace

std::vector<Job> join_components(std::vector<JobRecord> records)
{
    std::vector<Job> jobs;
    std::map<JobId, std::vector<JobRecord>> by_leader;
    for (JobRecord &record : records) {
        if (record.leader != 0 || is_rest(record))
            by_leader[record.leader != 0 ? record.leader : record.job.ref.id]
                .push_back(std::move(record));
        else if (!record.job.tag.uid.empty() || !record.job.tag.script.empty())
            jobs.push_back(std::move(record.job));
    }
    for (auto &[leader, of_one] : by_leader)
        if (Job job = join(sorted(std::move(of_one)));
            !job.tag.uid.empty() || !job.tag.script.empty())
            jobs.push_back(std::move(job));
    return jobs;
}

Job join_components(JobRef asked, std::vector<JobRecord> records)
{
    auto is_asked = [&](const JobRecord &record) {
        return record.job.ref == asked;
    };
    auto found = std::ranges::find_if(records, is_asked);
    bool alone = found->leader != asked.id && !is_rest(*found);
    return alone ? std::move(found->job) : join(sorted(std::move(records)));
}

std::vector<JobRef> refs_of(const Job &job)
{
    if (job.components.empty())
        return {job.ref};
    std::vector<JobRef> refs;
    for (const Job &component : job.components)
        refs.push_back(component.ref);
    return refs;
}

bool covers(const Job &job, JobRef ref)
{
    return job.ref == ref ||
           std::ranges::contains(job.components, ref, &Job::ref);
}

const Job &component_on(const Job &job, const std::string &slurm_node)
{
    for (const Job &component : job.components)
        if (std::ranges::contains(component.nodes, slurm_node))
            return component;
    return job;
}

const Job &component_of(const Job &job, JobRef ref)
{
    auto found = std::ranges::find(job.components, ref, &Job::ref);
    return found == job.components.end() ? job : *found;
}

bool is_whole(const Job &job)
{
    if (job.tag.components == some_components) // sbatch job without a Pod
        return job.components.size() > 1;
    return job.tag.components == 0 || // unknown number
           job.components.size() == job.tag.components;
}

std::vector<JobRef> left_over(const Job &job)
{
    std::vector<JobRef> refs;
    if (!any(job.components, is_ended))
        return refs;
    for (const Job &component : job.components)
        if (!is_ended(component.state))
            refs.push_back(component.ref);
    return refs;
}

} // namespace bridge
