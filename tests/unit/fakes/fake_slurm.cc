// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include "common/contract/names.h"

namespace bridge {

namespace {

constexpr int cancel_status = static_cast<int>(0xfffffffe); // NO_VAL
constexpr int oom_status = 253;

} // namespace

std::vector<FakeSlurm::Record> FakeSlurm::living() const
{
    std::vector<Record> alive;
    for (const auto &[id, record] : jobs_)
        if (!is_ended(record.job.state))
            alive.push_back(record);
    return alive;
}

Result<JobRef> FakeSlurm::submit(const JobDescription &job)
{
    if (auto said = enter("submit"); !said)
        return std::unexpected(said.error());
    if (!features_exist(job.features))
        return fail(Code::rejected, "submit: Invalid feature specification");
    if (!memory_fits(job))
        return fail(Code::rejected, "submit: Requested node configuration "
                                    "is not available");
    JobRef ref = add(job);
    if (loses_answer())
        return fail(Code::uncertain, "submit: no answer");
    return ref;
}

Result<JobRef>
FakeSlurm::submit_het(const std::vector<JobDescription> &components)
{
    if (auto said = enter("submit_het"); !said)
        return std::unexpected(said.error());
    std::vector<JobId> made;
    for (const JobDescription &one : components) {
        if (!features_exist(one.features) || !memory_fits(one)) {
            for (JobId id : made)
                jobs_.at(id).job.state = JobState::cancelled;
            return fail(Code::rejected, "submit: Requested node "
                                        "configuration is not available");
        }
        made.push_back(add(one).id);
        jobs_.at(made.back()).leader = made.front();
        jobs_.at(made.back()).offset =
            static_cast<std::uint32_t>(made.size()) - 1;
    }
    if (loses_answer())
        return fail(Code::uncertain, "submit: no answer");
    return jobs_.at(made.front()).job.ref;
}

Result<> FakeSlurm::set_tag(JobRef ref, const GangTag &tag)
{
    if (auto said = enter("set_tag"); !said)
        return said;
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "tag: Invalid job id specified");
    if (is_ended(record->job.state))
        return fail(Code::rejected, "tag: Job has already finished");
    record->job.tag = tag;
    if (loses_answer())
        return fail(Code::uncertain, "tag: no answer");
    return {};
}

Result<> FakeSlurm::complete(JobRef ref, int status)
{
    if (auto said = enter("complete"); !said)
        return said;
    return finish(ref, status, "complete");
}

Result<> FakeSlurm::cancel(JobRef ref)
{
    if (auto said = enter("cancel"); !said)
        return said;
    return finish(ref, cancel_status, "cancel");
}

Result<> FakeSlurm::resume_job(JobRef ref)
{
    if (auto said = enter("resume_job"); !said)
        return said;
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "resume: Invalid job id specified");
    if (is_ended(record->job.state))
        return fail(Code::rejected, "resume: Job/step already completed");
    if (record->job.state != JobState::suspended)
        return {};
    record->job.state = JobState::running;
    record->job.resumed = true;
    return {};
}

Result<> FakeSlurm::set_priority(JobRef ref, std::uint32_t priority)
{
    if (auto said = enter("set_priority"); !said)
        return said;
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "priority: Invalid job id specified");
    if (record->job.priority == 0 && priority == computed_priority)
        release(ref.id);
    else if (record->job.priority == 0 && priority != 0)
        return fail(Code::rejected, "priority: Job is held");
    else if (priority == 0)
        hold(ref.id);
    else
        record->job.priority = priority == computed_priority ? 1 : priority;
    return {};
}

Result<> FakeSlurm::set_partitions(JobRef ref, const std::string &names,
                                   std::uint32_t time_limit)
{
    if (auto said = enter("set_partitions"); !said)
        return said;
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "partition: Invalid job id specified");
    if (record->job.state != JobState::pending)
        return fail(Code::rejected, "partition: Job is no longer pending");
    record->asked.partition = names;
    record->asked.time_limit = time_limit;
    return {};
}

Result<> FakeSlurm::set_comment(JobRef ref, const std::string &words)
{
    if (auto said = enter("set_comment"); !said)
        return said;
    Record *record = record_of(ref);
    if (!record)
        return fail(Code::not_found, "comment: Invalid job id specified");
    record->comment = words;
    return {};
}

Result<JobRef> FakeSlurm::submit_shadow(const std::string &node,
                                        const NodeRoom &room, ShadowTier tier)
{
    if (auto said = enter("submit_shadow"); !said)
        return std::unexpected(said.error());
    JobDescription job;
    job.name = "slurmk8sd-shadow";
    job.partition = tier == ShadowTier::highest ? "highest" : "lowest";
    job.features = names::pin_prefix + node;
    job.cpus_per_task = static_cast<std::uint16_t>(room.cpus);
    job.memory_per_node = room.memory;
    for (const auto &[kind, count] : room.gres)
        job.gres_per_task += (job.gres_per_task.empty() ? "gres/" : ",gres/") +
                             kind + ":" + std::to_string(count);
    if (!features_exist(job.features))
        return fail(Code::rejected, "submit: Invalid feature");
    JobRef ref = add(job);
    shadows_[ref] = {node, room};
    if (loses_answer())
        return fail(Code::uncertain, "submit: no answer");
    return ref;
}

std::vector<JobId> FakeSlurm::components_of(JobId id) const
{
    std::vector<JobId> ids;
    for (const auto &[one, record] : jobs_)
        if (one == id || record.leader == id)
            ids.push_back(one);
    return ids;
}

FakeSlurm::Record *FakeSlurm::record_of(JobRef ref)
{
    auto found = jobs_.find(ref.id);
    bool same = found != jobs_.end() && found->second.job.ref == ref;
    return same ? &found->second : nullptr;
}

bool FakeSlurm::is_ours(const Record &record)
{
    return !record.job.tag.uid.empty() || !record.job.tag.script.empty();
}

JobRef FakeSlurm::add(const JobDescription &description)
{
    Record record;
    record.asked = description;
    record.job.ref = {next_id_++, Sluid{next_sluid_++}};
    record.job.tag = description.tag;
    record.job.state = JobState::pending;
    record.job.priority = description.priority.value_or(1);
    record.job.reason = record.job.priority == 0 ? "JobHeldAdmin" : "Priority";
    record.job.features = description.features;
    record.job.memory_per_node = description.memory_per_node;
    record.job.memory_per_cpu = description.memory_per_cpu;
    record.job.tasks = description.tasks;
    record.job.cpus_per_task = description.cpus_per_task;
    record.job.gres_per_task = description.gres_per_task;
    record.job.gres_per_node = description.gres;
    record.job.partition = description.partition;
    jobs_[record.job.ref.id] = record;
    return record.job.ref;
}

Result<> FakeSlurm::finish(JobRef ref, int status, const std::string &doing)
{
    if (!record_of(ref))
        return fail(Code::not_found, doing + ": Invalid job id specified");
    for (JobId id : components_of(ref.id))
        finish_one(jobs_.at(id), status);
    if (loses_answer())
        return fail(Code::uncertain, doing + ": no answer");
    return {};
}

void FakeSlurm::finish_one(Record &record, int status)
{
    record.status = status;
    record.completions++;
    bool was_pending = record.job.state == JobState::pending;
    if (!is_ended(record.job.state))
        end(record, status == cancel_status || was_pending ? JobState::cancelled
                    : status == 0                          ? JobState::completed
                    : status == oom_status ? JobState::out_of_memory
                                           : JobState::failed);
}

void FakeSlurm::end(Record &record, JobState state)
{
    bool had_nodes = is_allocated(record.job.state);
    record.job.state = state;
    record.job.reason.clear();
    record.prolog_held = false;
    if (!had_nodes || !is_ours(record))
        return; // no hook tells of it
    record.epilog_held = true;
    tell(record, HookMessage::Type::ended);
}

} // namespace bridge
