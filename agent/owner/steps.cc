// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/steps.h"

#include "agent/decide/messages.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"
#include "common/base/overloaded.h"
#include "common/slurm/het_job.h"

namespace bridge {

void Steps::take(GangEntry &entry, const OwnerStep &step)
{
    Gang &gang = entry.gang;
    Overloaded cases{
        [&](const Wait &wait) {
            if (!wait.reason.empty() && !to_.times.is_growing(entry) &&
                !to_.device_troubles.may_be_short(entry))
                to_.voice.say(entry, wait.reason);
        },
        [&](const Refuse &refuse) {
            to_.voice.say_refused(entry, submit_refused_message(refuse.reason));
        },
        [&](const Start &) {
            to_.gang_jobs.start(gang);
            // More Pods than the job has tasks may wait, or one may wait for
            // its kubelet.
            if (gang.grouped || gang.batch)
                to_.agenda.wake(gang.uid);
        },
        [&](const Clean &) {
            to_.gang_jobs.clean(gang);
            to_.agenda.wake(gang.uid);
        },
        [&](const Find &) {
            // one list for all
            to_.lists.list_by(to_.context.now + answer_time);
            to_.agenda.wake_at(entry, to_.context.now + answer_time);
        },
        [&](const Forget &) {
            to_.batch_pods.clean_up(gang);
            to_.gangs.erase(std::string(gang.uid));
        },
        [&](const Split &parts) {
            if (parts.late.empty())
                split(gang.uid);
            else
                to_.groups.split(parts.late);
        },
    };
    std::visit(cases, step);
}

// Each living Pod is adopted where it is, like a single Pod. A job that Slurm
// has requeued, or placed elsewhere, is cancelled only when all Pods have
// another job; otherwise its end would look like a user's request to end them.
void Steps::split(const std::string &uid)
{
    GangEntry *entry = to_.gangs.find(uid);
    std::vector<std::string> pods;
    for (const PodPtr &pod : entry->gang.pods)
        if (pod->living() && binder_of(*pod))
            pods.push_back(pod->uid);
    log_warning("a gang's job is lost: each of its Pods gets a job of its own",
                {{"Gang", entry->gang.key.str()}, {"Pods", pods.size()}});
    for (const std::string &pod : pods)
        to_.agenda.wake(to_.gangs.split(pod));
    entry = to_.gangs.find(uid); // the table has new entries
    if (entry->gang.job && is_ended(entry->gang.job->state) &&
        left_over(*entry->gang.job).empty())
        to_.gang_jobs.set(*entry, std::nullopt);
    to_.agenda.wake(uid);
}

} // namespace bridge
