// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>

namespace bridge {

void FakeSlurm::hold(JobId id)
{
    held_.insert(id); // it may come yet
    if (auto job = jobs_.find(id); job != jobs_.end())
        job->second.job.priority = 0;
}

void FakeSlurm::release(JobId id)
{
    held_.erase(id);
    jobs_.at(id).job.priority = 1;
    jobs_.at(id).job.reason = "None";
}

void FakeSlurm::scancel(JobId id)
{
    for (JobId one : components_of(id))
        if (!is_ended(jobs_.at(one).job.state))
            end(jobs_.at(one), JobState::cancelled);
}

void FakeSlurm::set_reason(JobId id, const std::string &reason)
{
    jobs_.at(id).job.reason = reason;
}

void FakeSlurm::set_expected_start(JobId id, std::int64_t when)
{
    jobs_.at(id).job.expected_start =
        std::chrono::sys_seconds(std::chrono::seconds(when));
}

std::int64_t FakeSlurm::expected_start(JobId id) const
{
    return jobs_.at(id).job.expected_start.time_since_epoch().count();
}

void FakeSlurm::set_down(const std::string &node)
{
    nodes_.at(node).down = true;
    for (auto &[id, record] : jobs_)
        if (is_allocated(record.job.state) &&
            std::ranges::contains(record.job.nodes, node))
            end(record, JobState::node_fail);
}

void FakeSlurm::unallocate(JobId id)
{
    Record &record = jobs_.at(id);
    record.job.state = JobState::pending;
    record.job.nodes.clear();
    record.prolog_held = false;
}

void FakeSlurm::forget_allocation(JobId id)
{
    unallocate(id);
    GangTag lost;
    lost.script = jobs_.at(id).job.tag.script;
    jobs_.at(id).job.tag = lost;
}

void FakeSlurm::take_back(JobId id)
{
    Record &record = jobs_.at(id);
    record.job.state = JobState::pending;
    record.prolog_held = false;
    record.epilog_held = true;
    tell(record, HookMessage::Type::ended);
    record.job.nodes.clear();
}

void FakeSlurm::reallocate(JobId id, const std::string &node)
{
    reallocate(id, std::vector{node});
}

void FakeSlurm::reallocate(JobId id, const std::vector<std::string> &nodes)
{
    Record &record = jobs_.at(id);
    record.job.state = JobState::configuring;
    record.job.nodes = nodes;
    auto count = static_cast<std::uint32_t>(nodes.size());
    if (count != std::max<std::size_t>(record.job.cpus_on.size(), 1)) {
        record.job.cpus = record.asked.tasks * record.asked.cpus_per_task;
        std::uint32_t tasks = record.asked.tasks / count; // and no rest
        record.job.cpus_on.assign(count == 1 ? 0 : count,
                                  tasks * record.asked.cpus_per_task);
    }
    if (record.asked.sharing == Sharing::nobody)
        record.job.cpus = nodes_.at(nodes.front()).cpus;
    record.prolog_held = true;
    tell(record, HookMessage::Type::allocated);
}

JobRef FakeSlurm::plant(const JobDescription &description)
{
    return add(description);
}

JobRef FakeSlurm::plant(const JobDescription &description, ArrayTask task)
{
    JobRef job = add(description);
    jobs_.at(job.id).array = task;
    return job;
}

JobRef FakeSlurm::sbatch(std::uint32_t cpus, std::uint64_t mib)
{
    JobDescription job;
    job.features = "k8s";
    job.tasks = cpus;
    job.memory_per_node.value = mib;
    return add(job);
}

void FakeSlurm::hold_for_preference(JobId id)
{
    jobs_.at(id).job.prefers = true;
    jobs_.at(id).job.reason = "BadConstraints";
    held_.insert(id); // the scheduler does not look at it again
}

void FakeSlurm::hold_for_constraints(JobId id)
{
    jobs_.at(id).job.priority = 0;
    jobs_.at(id).job.reason = "BadConstraints";
}

void FakeSlurm::add_node(const std::string &name, std::uint32_t cpus,
                         std::uint64_t mib)
{
    SlurmNode node;
    node.name = name;
    node.external = true;
    node.cpus = cpus;
    node.memory.value = mib;
    node.features = "k8s";
    nodes_[name] = node;
}

void FakeSlurm::add_real_node(const std::string &name, std::uint32_t cpus,
                              std::uint64_t mib)
{
    add_node(name, cpus, mib);
    nodes_[name].external = false;
}

void FakeSlurm::add_misfit(const std::string &name)
{
    add_real_node(name);
    nodes_[name].features = "k8s,k8s-untainted";
    stubborn_.insert(name);
}

void FakeSlurm::set_drained(const std::string &node, const std::string &reason)
{
    nodes_.at(node).drained = true;
    nodes_.at(node).reason = reason;
}

void FakeSlurm::resume_by_hand(const std::string &node)
{
    nodes_.at(node).drained = nodes_.at(node).down = false;
    nodes_.at(node).reason.clear();
}

const SlurmNode &FakeSlurm::node(const std::string &name) const
{
    return nodes_.at(name);
}

void FakeSlurm::set_gres_used(const std::string &node, const std::string &used)
{
    nodes_.at(node).gres_used = used;
}

void FakeSlurm::lose_gres(const std::string &node, const std::string &left)
{
    nodes_.at(node).gres = left;
    nodes_.at(node).extra.clear();
}

void FakeSlurm::set_topology_text(const std::string &node,
                                  const std::string &text)
{
    nodes_.at(node).topology = text;
}

} // namespace bridge
