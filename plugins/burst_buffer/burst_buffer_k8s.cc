// SPDX-License-Identifier: GPL-2.0-or-later
// The burst_buffer/k8s plugin: makes external jobs of the job arrays that
// job_submit/k8s has prepared (plugins/shared/pod_array.h). It has no burst
// buffers, and answers all other calls as if there were no such plugin.
// slurmctld holds its job lock, and that of burst_buffer.c, during all calls.
#include "plugins/shared/pod_array.h"

#include <cstdint>
#include <ctime>
#include <sys/types.h>

extern "C" {
#include <slurm/slurm_errno.h>
}

extern "C" {

extern const char plugin_name[] = "Bridge to Kubernetes: job arrays as Pods";
extern const char plugin_type[] = "burst_buffer/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

// Slurm's allocator, from libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);

int init() noexcept
{
    return SLURM_SUCCESS;
}

// Called by _job_create() for every submitted job, after --array and all limits
// were checked, and before slurmctld creates its record.
int bb_p_job_validate(job_desc_msg_t *desc, uid_t, char **) noexcept
{
    if (bridge::is_pod_array(*desc)) {
        slurm_xfree(reinterpret_cast<void **>(&desc->script));
        desc->bitflags |= EXTERNAL_JOB;
    }
    return SLURM_SUCCESS;
}

// The rest of the interface (burst_buffer.c). The pointers refer to slurmctld's
// records, which are not accessed here.

constexpr int staged = 1; // nothing has to be staged

char *bb_p_build_het_job_script(char *script, std::uint32_t) noexcept
{
    return slurm_xstrdup(script);
}

std::uint64_t bb_p_get_system_size() noexcept
{
    return 0;
}

int bb_p_load_state(bool) noexcept
{
    return SLURM_SUCCESS;
}

char *bb_p_get_status(std::uint32_t, char **, std::uint32_t,
                      std::uint32_t) noexcept
{
    return nullptr;
}

int bb_p_state_pack(uid_t, void *, std::uint16_t) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_reconfig() noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_job_validate2(void *, char **) noexcept
{
    return SLURM_SUCCESS;
}

void bb_p_job_set_tres_cnt(void *, std::uint64_t *, bool) noexcept {}

std::time_t bb_p_job_get_est_start(void *) noexcept
{
    return 0;
}

int bb_p_job_try_stage_in(void *) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_job_test_stage_in(void *, bool) noexcept
{
    return staged;
}

int bb_p_job_begin(void *) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_job_revoke_alloc(void *) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_job_start_stage_out(void *) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_job_test_post_run(void *) noexcept
{
    return staged;
}

int bb_p_job_test_stage_out(void *) noexcept
{
    return staged;
}

int bb_p_job_cancel(void *) noexcept
{
    return SLURM_SUCCESS;
}

int bb_p_run_script(char *, std::uint32_t, std::uint32_t, char **,
                    job_info_msg_t *, char **) noexcept
{
    return SLURM_ERROR; // slurmctld calls it only for burst_buffer/lua
}

char *bb_p_xlate_bb_2_tres_str(char *) noexcept
{
    return nullptr;
}
}
