// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_jobs.h"

#include "common/base/hexadecimal.h"
#include "common/contract/batch_het.h"
#include "common/contract/batch_names.h"
#include "common/contract/names.h"
#include "plugins/job_submit/batch_component.h"
#include "plugins/job_submit/batch_refusal.h"
#include "plugins/job_submit/batch_request.h"
#include "plugins/job_submit/job_desc.h"
#include "plugins/job_submit/plugin_files.h"
#include "plugins/job_submit/submit_budget.h"
#include "plugins/shared/pod_array.h"
#include "plugins/shared/slurm_conf_path.h"

#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <unistd.h>
#include <utility>

extern "C" {
#include <slurm/spank.h> // slurm_error()

// Slurm's allocator, from libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);
void *slurm_xcalloc(std::size_t count, std::size_t size, bool clear,
                    bool may_fail, const char *file, int line,
                    const char *function);

// In slurmctld, which holds its read lock on partitions.
extern char *default_part_name __attribute__((weak));
}

namespace bridge {

namespace {

// Never destroyed: slurmctld's threads may outlive static objects.
SubmitBudget &budget()
{
    static SubmitBudget &all = *new SubmitBudget;
    return all;
}

void set_text(char *&field, const std::string &text)
{
    slurm_xfree(reinterpret_cast<void **>(&field));
    field = slurm_xstrdup(text.c_str());
}

// Removes our entries and appends the mark. job_common_env_vars() reads the
// entries up to a null pointer, so one follows.
void set_job_mark(job_desc_msg_t &desc, const std::string &script)
{
    auto entries = entries_of(desc);
    auto **kept = static_cast<char **>(
        slurm_xcalloc(entries.size() + 2, sizeof(char *), true, false, __FILE__,
                      __LINE__, __func__));
    std::uint32_t size = 0;
    for (char *entry : entries) {
        if (is_batch_entry(entry))
            slurm_xfree(reinterpret_cast<void **>(&entry));
        else
            kept[size++] = entry;
    }
    std::string mark =
        std::string(names::job_mark) + "=" +
        (is_component(desc) ? names::batch_component_mark : names::batch_mark) +
        script;
    kept[size++] = slurm_xstrdup(mark.c_str());
    slurm_xfree(reinterpret_cast<void **>(&desc.spank_job_env));
    desc.spank_job_env = kept;
    desc.spank_job_env_size = size;
}

void make_placeholder(job_desc_msg_t &desc, const Conf &conf,
                      const std::string &script)
{
    bool array = is_array(desc);
    if (array) { // burst_buffer/k8s completes the conversion
        set_text(desc.script, array_stub);
    } else {
        slurm_xfree(reinterpret_cast<void **>(&desc.script));
        desc.bitflags |= EXTERNAL_JOB;
    }
    desc.requeue = 0;
    if (!has_several_nodes(desc))
        desc.min_nodes = desc.max_nodes = 1;
    if (!desc.std_out && !is_component(desc)) // slurmctld sets it for jobs with
                                              // a script
        desc.std_out = slurm_xstrdup(array ? names::batch_array_output
                                           : names::batch_output);
    // Our launcher delivers the signal. slurmctld would wait for a slurmd, and
    // there is none.
    desc.warn_flags = desc.warn_signal = desc.warn_time = 0;
    // slurmctld uses the preferred features instead of the constraint, so both
    // need ours.
    if (desc.prefer && *desc.prefer)
        set_text(desc.prefer, batch_features(desc.prefer, conf));
    set_text(desc.features,
             batch_features(desc.features ? desc.features : "", conf));
    set_text(desc.admin_comment, is_heterogeneous(desc) ? batch_het_tag(script)
                                                        : batch_tag(script));
    set_job_mark(desc, script);
}

constexpr std::size_t step_key_bytes = 32;
constexpr char not_read[] = "slurmctld could not read k8s.conf: see its log.";
constexpr char by_default[] = "Batch jobs of this partition run as Pods. ";

std::string burst_buffer_type()
{
    return &slurm_conf && slurm_conf.bb_type ? slurm_conf.bb_type : "";
}

std::string default_partition()
{
    return &default_part_name && default_part_name ? default_part_name : "";
}

// Hands the script, and what else the agent needs of the job, over for a file.
// Returns the file's name, or a message for the user.
std::expected<std::string, std::string> store_script(const job_desc_msg_t &desc,
                                                     const BatchWish &wish,
                                                     const Conf &conf)
{
    bool append = &slurm_conf && slurm_conf.job_file_append;
    BatchScript batch = batch_script(desc, wish, append);
    if (has_several_nodes(desc) || is_heterogeneous(desc)) {
        batch.step_key = random_hexadecimal(step_key_bytes);
        if (batch.step_key.empty())
            return std::unexpected(
                "slurmctld's host has no random numbers: try again later.");
    }
    std::string text = encode(batch);
    auto reason = size_refusal_reason(size_in_secret(batch, text.size()), conf);
    if (reason)
        return std::unexpected(*reason);
    if (!budget().take(desc.user_id, text.size(),
                       std::chrono::steady_clock::now()))
        return std::unexpected(
            "Too many jobs with --k8s-image within ten minutes: try again "
            "later.");
    return plugin_files().store_script(std::move(text));
}

} // namespace

namespace {

// The leader whose components this thread of slurmctld is passing to us.
std::optional<HetLeader> &leader_of_thread()
{
    thread_local std::optional<HetLeader> leader;
    return leader;
}

// Does what convert_batch_job() does, for the components after the leader.
std::optional<std::string>
convert_component(job_desc_msg_t &desc, const std::optional<BatchWish> &said)
{
    auto &leader = leader_of_thread();
    if (!leader && !said)
        return std::nullopt;
    auto conf = plugin_files().conf();
    if (!conf)
        return not_read;
    auto reason = component_refusal_reason(desc, said, leader, *conf);
    if (!reason)
        reason = batch_refusal_reason(desc, leader->wish, *conf, geteuid());
    if (reason)
        return reason;
    make_placeholder(desc, *conf, leader->script);
    leader->components++;
    leader->nodes += most_nodes(desc);
    return std::nullopt;
}

} // namespace

std::span<char *> entries_of(job_desc_msg_t &desc)
{
    return {desc.spank_job_env,
            desc.spank_job_env ? desc.spank_job_env_size : 0};
}

std::optional<std::string> convert_batch_job(job_desc_msg_t &desc)
{
    auto wish = batch_wish(entries_of(desc));
    if (!wish)
        return wish.error();
    if (is_component(desc))
        return convert_component(desc, *wish);
    leader_of_thread().reset();
    if (!*wish && !desc.script)
        return std::nullopt;
    auto conf = plugin_files().conf();
    if (!conf)
        return *wish ? std::optional<std::string>(not_read) : std::nullopt;
    auto said = *wish;
    bool by_option = said && !said->image.empty();
    wish =
        with_default_image(std::move(*wish), desc, *conf, default_partition());
    if (!wish)
        return wish.error();
    if (!*wish)
        return std::nullopt;
    auto reason = batch_refusal_reason(desc, **wish, *conf, geteuid());
    if (!reason)
        reason = array_refusal_reason(desc, burst_buffer_type());
    if (reason)
        return by_option || (*wish)->image.empty() ? *reason
                                                   : by_default + *reason;
    auto name = store_script(desc, **wish, *conf);
    if (!name)
        return name.error();
    make_placeholder(desc, *conf, *name);
    if (is_heterogeneous(desc))
        leader_of_thread() =
            HetLeader{desc.user_id,      *name, std::move(said),
                      std::move(**wish), 1,     most_nodes(desc)};
    return std::nullopt;
}

} // namespace bridge
