// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/slurmctld_job.h"

#include "plugins/shared/packed_job.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

extern "C" {
#include <slurm/spank.h> // slurm_error()

// Exported only by slurmctld, and not declared in Slurm's public headers. The
// second argument only adds exit codes (job_mgr.c).
[[gnu::weak]] char **job_common_env_vars(void *job, bool complete);

// In libslurmfull: job_record.c and pack.c. slurm_create_buf() takes the
// memory, slurm_xfer_buf_data_ptr() frees the buffer and returns its memory.
[[gnu::weak]] int job_record_pack(void *job, int tres_count, void *buffer,
                                  std::uint16_t protocol_version);
[[gnu::weak]] void *slurm_create_buf(char *memory, std::uint32_t size);
[[gnu::weak]] void *slurm_xfer_buf_data_ptr(void **buffer);

// Slurm's allocator, from libslurmfull.
[[gnu::weak]] std::size_t slurm_xsize(void *item);
void *slurm_xcalloc(std::size_t count, std::size_t size, bool clear,
                    bool may_fail, const char *file, int line,
                    const char *function);
void slurm_xfree(void **item);
}

namespace bridge {

namespace {

// Frees the environment as prep_script_slurmctld.c does.
void free_environment(char **environment)
{
    for (char **entry = environment; *entry; entry++)
        slurm_xfree(reinterpret_cast<void **>(entry));
    slurm_xfree(reinterpret_cast<void **>(&environment));
}

void free_bytes(void *bytes)
{
    slurm_xfree(&bytes);
}

// slurmctld packs jobs like this for its state file, and for slurmstepd.
std::optional<JobFacts> packed_facts_of(void *job)
{
    if (!job_record_pack || !slurm_create_buf || !slurm_xfer_buf_data_ptr ||
        !slurm_xsize)
        return std::nullopt;
    constexpr std::uint32_t usual_size = 8192; // it grows
    // Cleared, so that a job that is not packed is not another one.
    void *buffer = slurm_create_buf(
        static_cast<char *>(slurm_xcalloc(1, usual_size, true, false, __FILE__,
                                          __LINE__, __func__)),
        usual_size);
    job_record_pack(job, 0, buffer, packed_job_version);
    std::unique_ptr<void, void (*)(void *)> bytes(
        slurm_xfer_buf_data_ptr(&buffer), free_bytes);
    if (!bytes)
        return std::nullopt;
    return facts_in_packed(
        {static_cast<const char *>(bytes.get()), slurm_xsize(bytes.get())});
}

} // namespace

bool inside_slurmctld()
{
    return job_common_env_vars != nullptr;
}

JobFacts facts_of(void *job)
{
    if (auto facts = packed_facts_of(job))
        return *facts;
    static std::atomic<bool> said = false;
    if (!said.exchange(true))
        slurm_error("k8s: this slurmctld packs jobs in another way: the user "
                    "database is asked at the start and end of each job");
    std::unique_ptr<char *, void (*)(char **)> environment(
        job_common_env_vars(job, false), free_environment);
    return facts_from(environment.get());
}

} // namespace bridge
