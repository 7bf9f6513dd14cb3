// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include "common/slurm/het_job.h"
#include "common/slurm/job_queue.h"
#include "common/slurm/queue_wants.h"

#include <memory>
#include <tuple>

namespace bridge {

namespace {

JobRecord listed(const FakeSlurm::Record &record)
{
    return {record.job, record.leader, record.offset};
}

// Without details, as accounting (AccountingStorageTRES) counts no GRES.
JobRecord listed_in_short(const FakeSlurm::Record &record)
{
    JobRecord made = listed(record);
    made.job.devices = false;
    made.job.gres_on.clear();
    made.job.cpu_ids_on.clear();
    return made;
}

// Without what the time limit says.
BatchJob batch_of(const FakeSlurm::Record &record)
{
    BatchJob batch;
    batch.job = record.job;
    batch.user_id = record.asked.user_id;
    batch.group_id = record.asked.group_id;
    batch.name = record.asked.name;
    batch.partition = record.asked.partition;
    batch.account = record.asked.account;
    batch.qos = record.asked.qos;
    batch.array = record.array;
    batch.reservation = record.asked.reservation;
    batch.time_limit = record.asked.time_limit;
    batch.asks_gres =
        !record.asked.gres.empty() || !record.asked.gres_per_task.empty();
    for (const std::string &node : record.job.nodes)
        batch.hostlist += (batch.hostlist.empty() ? "" : ",") + node;
    return batch;
}

} // namespace

Result<Job> FakeSlurm::load(JobRef ref)
{
    if (auto said = enter("load"); !said)
        return std::unexpected(said.error());
    if (!record_of(ref))
        return fail(Code::not_found, "load: Invalid job id specified");
    std::vector<JobRecord> records;
    for (JobId id : components_of(ref.id))
        records.push_back(listed(jobs_.at(id)));
    for (JobRecord &record : records)
        record.job.gres_read = true;
    return join_components(ref, std::move(records));
}

Result<BatchJob> FakeSlurm::load_batch(JobRef ref)
{
    if (auto said = enter("load_batch"); !said)
        return std::unexpected(said.error());
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "load: Invalid job id specified");
    BatchJob batch = batch_of(*record);
    if (record->leader == ref.id) {
        std::vector<JobRecord> records;
        for (JobId id : components_of(ref.id))
            records.push_back(listed(jobs_.at(id)));
        batch.job = join_components(ref, std::move(records));
    }
    batch.job.gres_read = true;
    batch.ends = ends;
    return batch;
}

Result<JobDetails> FakeSlurm::load_details(JobId id)
{
    if (auto said = enter("load_details"); !said)
        return std::unexpected(said.error());
    auto found = jobs_.find(id);
    if (found == jobs_.end())
        return fail(Code::not_found, "load: Invalid job id specified");
    JobDetails details;
    details.job = found->second.job;
    details.user = std::to_string(found->second.asked.user_id);
    details.partition = found->second.asked.partition;
    details.features = found->second.asked.features;
    details.requested =
        "cpu=" + std::to_string(found->second.asked.cpus_per_task);
    return details;
}

Result<JobState> FakeSlurm::recall(JobRef ref)
{
    if (auto said = enter("recall"); !said)
        return std::unexpected(said.error());
    auto known = accounted_.find(ref);
    if (known == accounted_.end())
        return fail(Code::not_found, "recall: no such record");
    return known->second;
}

namespace {

WaitingJob waiting_job(const Job &job, const JobDescription &asked)
{
    WaitingJob waiting;
    waiting.id = job.ref.id;
    waiting.priority = job.priority;
    waiting.partitions = {job.partition};
    waiting.nodes = asked.min_nodes;
    waiting.tasks = asked.tasks;
    waiting.cpus = asked.tasks * asked.cpus_per_task;
    waiting.memory_per_node = asked.memory_per_node;
    waiting.memory_per_cpu = asked.memory_per_cpu;
    waiting.features = asked.features;
    return waiting;
}

} // namespace

Result<std::vector<Job>> FakeSlurm::load_all()
{
    if (auto said = enter("load_all"); !said)
        return std::unexpected(said.error());
    QueueWants wants;
    auto queued = [](const Job &job) {
        return QueuedJob{job.partition, job.priority, job.reason};
    };
    for (const auto &[id, record] : jobs_)
        if (record.job.state == JobState::pending)
            wants.add(queued(record.job));
    std::vector<JobRecord> all;
    for (const auto &[id, record] : jobs_)
        if (is_ours(record)) {
            all.push_back(listed_in_short(record));
            Job &job = all.back().job;
            job.wants_nodes =
                job.state == JobState::pending && wants.has(queued(job));
            if (job.wants_nodes && lacks_pods(job))
                job.waiting = std::make_shared<const WaitingJob>(
                    waiting_job(job, record.asked));
        }
    return join_components(std::move(all));
}

Result<std::vector<JobStateHint>> FakeSlurm::load_states()
{
    if (auto said = enter("load_states"); !said)
        return std::unexpected(said.error());
    std::vector<JobStateHint> all;
    for (const auto &[id, record] : jobs_)
        all.push_back({id, record.job.state});
    return all;
}

Result<> FakeSlurm::check_partitions(const std::string &names)
{
    if (!root_only.empty() && names == root_only)
        return fail(Code::rejected, "partition " + names + " is RootOnly");
    return {};
}

Result<std::vector<Partition>> FakeSlurm::load_partitions()
{
    if (auto said = enter("load_partitions"); !said)
        return std::unexpected(said.error());
    return partitions;
}

Result<GraceTimes> FakeSlurm::load_grace_times()
{
    if (auto said = enter("load_grace_times"); !said)
        return std::unexpected(said.error());
    return grace_times;
}

Result<ClusterFacts> FakeSlurm::load_cluster()
{
    if (auto said = enter("load_cluster"); !said)
        return std::unexpected(said.error());
    return ClusterFacts{"fake", controller_port, gres_types, started};
}

Result<> FakeSlurm::reconfigure()
{
    return enter("reconfigure");
}

Result<std::vector<Reservation>> FakeSlurm::load_reservations()
{
    if (auto said = enter("load_reservations"); !said)
        return std::unexpected(said.error());
    return reservations;
}

Result<std::vector<NodeUse>> FakeSlurm::load_uses()
{
    if (auto said = enter("load_uses"); !said)
        return std::unexpected(said.error());
    std::vector<NodeUse> uses;
    for (const auto &[id, record] : jobs_)
        if (!is_ended(record.job.state)) {
            uses.push_back(use_of(record));
        } else if (auto named = named_.find(record.job.ref);
                   named != named_.end()) {
            NodeUse use;
            use.job = record.job.ref;
            use.over = true;
            use.named = {named->second};
            uses.push_back(std::move(use));
        }
    uses.insert(uses.end(), others.begin(), others.end());
    return uses;
}

Result<std::vector<NodeHolder>> FakeSlurm::load_holders()
{
    if (auto said = enter("load_holders"); !said)
        return std::unexpected(said.error());
    std::vector<NodeHolder> holders;
    for (const auto &[id, record] : jobs_)
        if (is_allocated(record.job.state) ||
            record.job.state == JobState::suspended)
            holders.push_back({record.job.ref, record.job.nodes, {}});
    return holders;
}

NodeUse FakeSlurm::use_of(const Record &record) const
{
    NodeUse use{record.job.ref,
                record.job.state == JobState::pending,
                {},
                record.asked.features,
                {},
                {}};
    use.partitions = record.asked.partition;
    use.in_line = use.pending && record.job.priority != 0;
    use.time_limit = record.asked.time_limit.value_or(0);
    if (auto shadow = shadows_.find(record.job.ref); shadow != shadows_.end())
        std::tie(use.shadow_of, use.room) = shadow->second;
    if (auto named = named_.find(record.job.ref); named != named_.end())
        use.named = {named->second};
    return use;
}

} // namespace bridge
