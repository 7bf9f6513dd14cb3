// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/slurmctld_job.h"

#include <memory>

// Exported by slurmctld alone, declared in none of Slurm's public headers. Its
// second argument only adds the exit codes (job_mgr.c).
extern "C" [[gnu::weak]] char **job_common_env_vars(void *job, bool complete);
extern "C" void slurm_xfree(void **item); // Slurm's allocator, libslurmfull

namespace bridge {

namespace {

// As prep_script_slurmctld.c frees it.
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
