// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/slurmctld_job.h"

#include <memory>

// Exported only by slurmctld, and not declared in Slurm's public headers. The
// second argument only adds exit codes (job_mgr.c).
extern "C" [[gnu::weak]] char **job_common_env_vars(void *job, bool complete);
extern "C" void slurm_xfree(void **item); // Slurm's allocator, from
                                          // libslurmfull

namespace bridge {

namespace {

// Frees the environment as prep_script_slurmctld.c does.
void free_environment(char **environment)
{
    for (char **entry = environment; *entry; entry++)
        slurm_xfree(reinterpret_cast<void **>(entry));
    slurm_xfree(reinterpret_cast<void **>(&environment));
}

} // namespace

bool inside_slurmctld()
{
    return job_common_env_vars != nullptr;
}

JobFacts facts_of(void *job)
{
    std::unique_ptr<char *, void (*)(char **)> environment(
        job_common_env_vars(job, false), free_environment);
    return facts_from(environment.get());
}

} // namespace bridge
