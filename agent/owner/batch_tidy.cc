// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_tidy.h"

#include "agent/gang/batch_place.h"
#include "agent/owner/batch_marks.h"
#include "common/base/log.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds retry_pause{30};

} // namespace

void BatchTidy::clean_up(const Gang &gang)
{
    if (context_.ports.scripts_dir.empty() || !gang.batch)
        return;
    for (const PodPtr &pod : gang.pods)
        if (!is_worker(*pod) && cleaned_up_.insert(pod->uid).second)
            clean_up(pod);
}

void BatchTidy::clean_up(const PodPtr &pod)
{
    auto mark = batch_mark(*pod);
    if (mark && mark->array)
        in_use_[pod->uid] = mark->script;
    ScriptDir scripts(context_.ports.scripts_dir);
    errands_.ask(
        [pod, scripts](Slurm &, Kube &kube) {
            return clean_up_batch_pod(*pod, kube, scripts);
        },
        [this, pod](const Result<> &done) {
            if (done) {
                in_use_.erase(pod->uid);
                return;
            }
            log_warning(
                "cannot delete the Secret or script of a batch job, "
                "will retry in 30 s",
                {{"Pod", pod->key.str()}, {"err", done.error().message}});
            failed_[pod->uid] = pod;
            retry_due_ = context_.now + retry_pause;
        });
}

Clock::time_point BatchTidy::retry_due() const
{
    return failed_.empty() ? Clock::time_point::max() : retry_due_;
}

void BatchTidy::retry()
{
    for (const auto &[uid, pod] : std::exchange(failed_, {}))
        clean_up(pod);
}

void BatchTidy::sweep(ScriptSweep::Named named)
{
    if (context_.ports.scripts_dir.empty())
        return;
    // While a Pod is known, its Secret must be deleted first.
    for (const auto &[uid, entry] : gangs_.all())
        if (auto mark = mark_of(entry.gang, *context_.conf))
            named.living.insert(mark->script);
    for (const auto &[uid, script] : in_use_)
        named.living.insert(script);
    ScriptDir scripts(context_.ports.scripts_dir);
    errands_.run([&sweep = caches_.sweep, scripts, named = std::move(named),
                  now = context_.now](Slurm &) {
        if (auto done = sweep.sweep(scripts, named, now); !done)
            log_warning("cannot delete old scripts of batch jobs, will retry",
                        {{"err", done.error().message}});
    });
}

} // namespace bridge
