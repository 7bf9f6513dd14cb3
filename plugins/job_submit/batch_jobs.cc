// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_jobs.h"

#include "common/batch_names.h"
#include "common/conf.h"
#include "common/names.h"
#include "common/script_dir.h"
#include "plugins/job_submit/batch_request.h"
#include "plugins/job_submit/submit_budget.h"
#include "plugins/slurm_conf_path.h"

#include <chrono>
#include <span>
#include <unistd.h>
#include <utility>

extern "C" {
#include <slurm/spank.h> // slurm_error()

// Slurm's allocator, libslurmfull.
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **item);
}

namespace bridge {

namespace {

// slurmctld's threads may outlive what is destroyed at its end.
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

std::span<char *> entries_of(job_desc_msg_t &desc)
{
    return {desc.spank_job_env,
            desc.spank_job_env ? desc.spank_job_env_size : 0};
}

// Our entries go, and the first of them makes room for the mark.
void put_mark(job_desc_msg_t &desc, const std::string &script)
{
    std::uint32_t size = 0;
    bool marked = false;
    auto entries = entries_of(desc);
    for (char *&entry : entries) {
        char *kept = entry;
        entry = nullptr;
        if (is_batch_entry(kept)) {
            slurm_xfree(reinterpret_cast<void **>(&kept));
            if (std::exchange(marked, true))
                continue;
            std::string mark = std::string(names::job_mark) + "=" +
                               names::batch_mark + script;
            kept = slurm_xstrdup(mark.c_str());
        }
        entries[size++] = kept;
    }
    desc.spank_job_env_size = size;
}

void make_placeholder(job_desc_msg_t &desc, const std::string &script)
{
    slurm_xfree(reinterpret_cast<void **>(&desc.script));
    desc.bitflags |= EXTERNAL_JOB;
    desc.requeue = 0;
    desc.min_nodes = desc.max_nodes = 1;
    set_text(desc.features, batch_features());
    set_text(desc.admin_comment, batch_tag(script));
    put_mark(desc, script);
}

} // namespace

std::optional<std::string> take_batch_job(job_desc_msg_t &desc)
{
    auto wish = batch_wish(entries_of(desc));
    if (!wish)
        return wish.error();
    if (!*wish)
        return std::nullopt;
    auto conf = load_conf(k8s_conf_path());
    if (!conf) {
        slurm_error("job_submit/k8s: batch jobs do not run as Pods: %s",
                    conf.error().message.c_str());
        return "slurmctld could not read k8s.conf: see its log.";
    }
    if (auto why = refuse_batch(desc, *conf, geteuid()))
        return why;
    std::string text = encode(batch_script(desc, **wish));
    if (auto why = refuse_size(text.size(), *conf))
        return why;
    if (!&slurm_conf || !slurm_conf.state_save_location)
        return "This slurmctld does not say where it keeps scripts.";
    ScriptDir scripts(std::string(slurm_conf.state_save_location) + "/" +
                      names::scripts_dir);
    if (!budget().take(desc.user_id, text.size(),
                       std::chrono::steady_clock::now()))
        return "Too many jobs with --k8s-image within ten minutes: try again "
               "later.";
    auto name = scripts.put(text);
    if (!name) {
        slurm_error("job_submit/k8s: a script was not kept: %s",
                    name.error().message.c_str());
        return "slurmctld could not keep the script: see its log.";
    }
    make_placeholder(desc, *name);
    return std::nullopt;
}

} // namespace bridge
