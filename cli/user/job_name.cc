// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/job_name.h"

#include "cli/slurm_here.h"
#include "common/base/text.h"

#include <cerrno>
#include <format>
#include <memory>
#include <span>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

struct FreeJobs {
    void operator()(job_info_msg_t *jobs) const
    {
        slurm_free_job_info_msg(jobs);
    }
};

} // namespace

std::optional<JobName> parse_job_name(const std::string &text)
{
    std::string_view rest = text;
    auto job = whole_number<std::uint32_t>(next_part(rest, '_'));
    if (!job || *job == 0)
        return std::nullopt;
    if (!text.contains('_'))
        return JobName{*job, {}};
    auto task = whole_number<std::uint32_t>(rest);
    return task ? std::optional(JobName{*job, task}) : std::nullopt;
}

Result<std::uint32_t> find_job_id(const JobName &name)
{
    if (!name.task)
        return name.job;
    if (!has_slurm_conf())
        return fail(Code::denied, "there is no slurm.conf on this host");
    slurm_init(nullptr);
    slurm_step_id_t array{};
    array.job_id = name.job;
    array.step_id = array.step_het_comp = NO_VAL;
    job_info_msg_t *raw = nullptr;
    int rc = slurm_load_job(&raw, array, SHOW_ALL);
    int error = errno;
    std::unique_ptr<job_info_msg_t, FreeJobs> jobs(raw);
    if (rc != SLURM_SUCCESS && error != ESLURM_INVALID_JOB_ID)
        return fail(Code::busy,
                    std::string("slurmctld: ") + slurm_strerror(error));
    if (jobs)
        for (const slurm_job_info_t &job :
             std::span(jobs->job_array, jobs->record_count))
            if (job.array_job_id == name.job && job.array_task_id == *name.task)
                return job.step_id.job_id;
    return fail(Code::not_found, std::format("slurmctld knows no job {}_{}",
                                             name.job, *name.task));
}

} // namespace bridge
