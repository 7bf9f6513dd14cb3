// SPDX-License-Identifier: GPL-2.0-or-later
// The accounting part of SlurmApi: jobs that slurmctld has forgotten.
#include "common/slurm/api.h"
#include "common/slurm/ctl_conf.h"
#include "common/slurm/database.h"
#include "common/slurm/error.h"
#include "common/slurm/states.h"
#include "common/slurm/strings.h"

#include <cerrno>
#include <memory>
#include <unistd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
}

namespace bridge {

namespace {

// Returns all records of this JobId; ids are used again.
SlurmList records_of(JobRef job, void *connection)
{
    slurm_selected_step_t step{};
    step.array_task_id = NO_VAL;
    step.het_job_offset = NO_VAL;
    step.step_id.job_id = job.id;
    step.step_id.step_id = NO_VAL;
    step.step_id.step_het_comp = NO_VAL;
    SlurmList steps(slurm_list_create(nullptr));
    slurm_list_append(steps.get(), &step);
    slurmdb_job_cond_t condition{};
    condition.step_list = steps.get();
    condition.flags =
        JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_TRUNC | JOBCOND_FLAG_NO_STEP;
    condition.db_flags = SLURMDB_JOB_FLAG_NOTSET;
    return SlurmList(slurmdb_jobs_get(connection, &condition));
}

Result<bool> ask_for_database()
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    return text((*conf)->accounting_storage_type).find("slurmdbd") !=
           std::string::npos;
}

// The agent cancels a job that has lost its allocation while its Pods already
// have another job; slurmctld with an older state may know neither of the two.
bool cancelled_by_us(const slurmdb_job_rec_t &record)
{
    return job_state_of(record.state) == JobState::cancelled &&
           record.requid == geteuid();
}

} // namespace

// The answer is cached for a minute: a restart of slurmctld can make many jobs
// unknown at once, and its configuration is large and changes seldom.
Result<bool> SlurmApi::has_database()
{
    constexpr std::chrono::minutes believed{1};
    auto now = std::chrono::steady_clock::now();
    std::lock_guard lock(mutex_);
    if (database_ && now - database_asked_ < believed)
        return *database_;
    auto database = ask_for_database();
    if (database) {
        database_ = *database;
        database_asked_ = now;
    }
    return database;
}

Result<JobState> SlurmApi::recall(JobRef job)
{
    auto unknown = fail(Code::not_found, "the accounting database does not "
                                         "know JobId=" +
                                             std::to_string(job.id));
    auto database = has_database();
    if (!database)
        return std::unexpected(database.error());
    if (!*database)
        return unknown;
    SlurmDatabase connection;
    SlurmList records =
        connection.get() ? records_of(job, connection.get()) : nullptr;
    if (!records)
        return fail(Code::busy, "slurmdbd does not answer");
    Result<JobState> found = unknown;
    each_in<slurmdb_job_rec_t>(
        records.get(), [&](const slurmdb_job_rec_t &record) {
            if (record.jobid == job.id && record.sluid == job.sluid.value &&
                !cancelled_by_us(record))
                found = job_state_of(record.state);
        });
    return found;
}

} // namespace bridge
