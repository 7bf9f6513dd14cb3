// SPDX-License-Identifier: GPL-2.0-or-later
// The job_submit/k8s plugin. It lets only the agent submit placeholder jobs and
// set the mark by which our hooks recognise them; turns batch jobs that request
// a Pod into placeholder jobs; explains why an ordinary job cannot start on
// nodes for Pods; adds partitions to plain batch jobs (Burst in k8s.conf); and
// tells the agent who a user is. slurmctld holds its job
// lock during all calls (job_submit.c), so they never wait, neither for RPCs
// nor for files nor for the user database. If a decision is impossible, the job
// is refused.
#include "plugins/job_submit/batch_jobs.h"
#include "plugins/job_submit/burst.h"
#include "plugins/job_submit/burst_jobs.h"
#include "plugins/job_submit/group_watch.h"
#include "plugins/job_submit/login_notary.h"
#include "plugins/job_submit/node_watch.h"
#include "plugins/job_submit/plugin_files.h"
#include "plugins/job_submit/submit_policy.h"
#include "plugins/shared/pod_array.h"
#include "plugins/shared/slurmctld_job.h"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <unistd.h>

extern "C" {
#include <slurm/slurm_errno.h>
#include <slurm/spank.h> // slurm_error()
}

extern "C" {

extern const char plugin_name[] = "Bridge to Kubernetes: placeholder policy";
extern const char plugin_type[] = "job_submit/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

// Slurm's allocator, from libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);
}

namespace bridge {

namespace {

// The agent runs as SlurmUser, as slurmctld does.
bool from_agent(std::uint32_t uid)
{
    return is_agent(uid, geteuid());
}

// Set by init(), before slurmctld calls anything else; never freed.
NodeWatch *nodes = nullptr;

int refuse(const std::string &reason, char **err_msg,
           int rc = ESLURM_ACCESS_DENIED)
{
    slurm_xfree(reinterpret_cast<void **>(err_msg)); // another plugin's message
    *err_msg = slurm_xstrdup(reason.c_str());
    return rc;
}

// Returns Slurm's return code for an ordinary job that requests this place. A
// refusal has the errno that slurmctld itself uses for this case.
template <class MakeWish> int judge_place(MakeWish make_wish, char **err_msg)
{
    auto view = nodes ? nodes->view() : nullptr;
    if (!view)
        return SLURM_SUCCESS;
    PlaceWish wish = make_wish(*view);
    auto reason = place_refusal_reason(wish, *view);
    if (!reason) {
        reason = features_refusal_reason(wish, *view);
        if (reason && !nodes->seen_since_asked(wish.features))
            reason.reset();
    }
    if (!reason)
        return SLURM_SUCCESS; // slurmctld decides
    nodes->request_update();
    return refuse(*reason, err_msg, ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
}

// Tells the user something about a job that is taken, after what other plugins
// have said.
void tell(const std::string &words, char **err_msg)
{
    std::string all = *err_msg ? *err_msg + ("\n" + words) : words;
    slurm_xfree(reinterpret_cast<void **>(err_msg));
    *err_msg = slurm_xstrdup(all.c_str());
}

void burst(job_desc_msg_t &desc, char **err_msg)
{
    auto view = nodes ? nodes->view() : nullptr;
    std::string words = add_burst_partitions(desc, view.get());
    if (!words.empty())
        tell(words, err_msg);
}

// Has the groups of the partitions that rules add looked up. Called by the
// thread of nodes.
void watch_groups(const NodeView &view)
{
    if (auto conf = plugin_files().conf())
        watch_burst_groups(groups_of(conf->bursts, view));
}

// Keeps the entries that kept_entries() allows, in order.
void clean_spank_env(job_desc_msg_t &desc)
{
    std::span<char *> entries = entries_of(desc);
    std::vector<bool> kept = kept_entries(entries);
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < entries.size(); i++) {
        char *entry = entries[i];
        entries[i] = nullptr;
        if (kept[i])
            entries[size++] = entry;
        else
            slurm_xfree(reinterpret_cast<void **>(&entry));
    }
    desc.spank_job_env_size = size;
}

// Handles a request that is no job, but asks to tell the agent who the user is
// (common/contract/login_dir.h). Returns Slurm's return code, which is never
// success, or nothing for all other requests.
std::optional<int> notarize(job_desc_msg_t &desc, std::uint32_t submit_uid,
                            char **err_msg)
{
    auto login = login_in(entries_of(desc));
    if (!login)
        return std::nullopt;
    auto now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    if (auto reason = plugin_files().record_login(*login, submit_uid, now))
        return refuse(*reason, err_msg);
    return SLURM_NO_CHANGE_IN_DATA;
}

} // namespace

} // namespace bridge

extern "C" {

// Also called in a slurmctld on standby, where no job is ever submitted.
int init() noexcept
try {
    bridge::plugin_files();
    if (!bridge::nodes) {
        auto watch = std::make_unique<bridge::NodeWatch>();
        watch->start(bridge::watch_groups);
        bridge::nodes = watch.release();
    }
    return SLURM_SUCCESS;
} catch (const std::exception &e) { // slurmctld's own messages remain
    slurm_error("job_submit/k8s: cannot watch nodes: %s", e.what());
    return SLURM_SUCCESS;
}

int job_submit(job_desc_msg_t *desc, std::uint32_t submit_uid,
               char **err_msg) noexcept
try {
    if (auto reason = bridge::too_large_reason(*desc))
        return bridge::refuse(*reason, err_msg, ESLURM_PATHNAME_TOO_LONG);
    if (auto rc = bridge::notarize(*desc, submit_uid, err_msg))
        return *rc;
    bool external = desc->bitflags & EXTERNAL_JOB;
    if (!bridge::from_agent(submit_uid)) {
        if (auto reason = bridge::submit_refusal_reason(*desc))
            return bridge::refuse(*reason, err_msg);
        bridge::clean_spank_env(*desc);
    }
    if (!external)
        if (auto reason = bridge::convert_batch_job(*desc))
            return bridge::refuse(*reason, err_msg, ESLURM_NOT_SUPPORTED);
    if (desc->bitflags & EXTERNAL_JOB || bridge::is_pod_array(*desc))
        return SLURM_SUCCESS;
    int rc = bridge::judge_place(
        [desc](const bridge::NodeView &view) {
            return bridge::submit_wish(*desc, view, bridge::expand_hostlist);
        },
        err_msg);
    if (rc == SLURM_SUCCESS)
        bridge::burst(*desc, err_msg);
    return rc;
} catch (const std::exception &e) { // no C++ exception may reach slurmctld
    slurm_error("job_submit/k8s: submit refused: %s", e.what());
    return SLURM_ERROR;
}

// The job's write lock is held: update_job() in job_mgr.c.
int job_modify(job_desc_msg_t *desc, void *job, std::uint32_t submit_uid,
               char **err_msg) noexcept
try {
    if (bridge::from_agent(submit_uid))
        return SLURM_SUCCESS;
    if (auto reason = bridge::too_large_reason(*desc))
        return bridge::refuse(*reason, err_msg, ESLURM_PATHNAME_TOO_LONG);
    if (!bridge::facts_of(job).ours)
        return bridge::judge_place(
            [desc](const bridge::NodeView &) {
                return bridge::modify_wish(*desc, bridge::expand_hostlist);
            },
            err_msg);
    job_desc_msg_t unset;
    slurm_init_job_desc_msg(&unset);
    if (auto reason = bridge::modify_refusal_reason(*desc, unset))
        return bridge::refuse(*reason, err_msg);
    return SLURM_SUCCESS;
} catch (const std::exception &e) {
    slurm_error("job_submit/k8s: update refused: %s", e.what());
    return SLURM_ERROR;
}
}
