// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/failures.h"

#include "agent/decide/messages.h"
#include "agent/decide/too_large.h"
#include "agent/gang/facts.h"
#include "agent/gang/flags.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

#include <algorithm>
#include <array>

namespace bridge {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds first_retry{500};
constexpr seconds last_retry{30};
constexpr seconds first_refusal_pause{5}; // after Slurm refused a job
constexpr seconds last_refusal_pause{300};

template <class Kind> const std::size_t index_of = Action(Kind{}).index();

// What the user, or an administrator, must change.
bool is_refusal(const Error &error)
{
    return error.code == Code::rejected || error.code == Code::denied;
}

} // namespace

// What a failure means depends on the action and on the code. A row: how long
// the action pauses when it was refused and, with watch_shows, that after a
// conflict (for `gone` also if the object is not found) the watch is waited
// for; stale: the job must be read again; note: what else follows.
struct FailureRule {
    std::size_t action;
    Clock::duration refused_first = first_retry;
    Clock::duration refused_last = last_retry;
    bool watch_shows = false;
    bool gone = false;
    bool stale = false;
    // Returns the shortest pause.
    Clock::duration (Failures::*note)(GangEntry &,
                                      const ActionDone &) = nullptr;
};

const FailureRule &Failures::rule_for(const Action &action)
{
    static const std::array rules = {
        FailureRule{.action = index_of<Bind>,
                    .refused_first = first_refusal_pause,
                    .watch_shows = true,
                    .gone = true,
                    .note = &Failures::bind_failed},
        FailureRule{.action = index_of<BindVolumes>,
                    .watch_shows = true,
                    .note = &Failures::volumes_failed},
        FailureRule{.action = index_of<LookVolumes>,
                    .watch_shows = true,
                    .note = &Failures::volumes_failed},
        FailureRule{.action = index_of<Submit>,
                    .refused_first = first_refusal_pause,
                    .refused_last = last_refusal_pause,
                    .note = &Failures::submit_failed},
        FailureRule{.action = index_of<Adopt>,
                    .refused_first = first_refusal_pause,
                    .refused_last = last_refusal_pause,
                    .note = &Failures::adopt_failed},
        FailureRule{.action = index_of<Look>, .stale = true},
        FailureRule{.action = index_of<Complete>, .stale = true},
        FailureRule{.action = index_of<Cancel>, .stale = true},
        FailureRule{.action = index_of<Renew>, .stale = true},
        FailureRule{.action = index_of<Remake>, .stale = true},
        FailureRule{.action = index_of<ResumeJob>, .stale = true},
    };
    static const FailureRule others{.action = std::variant_npos};
    auto rule = std::ranges::find(rules, action.index(), &FailureRule::action);
    return rule == rules.end() ? others : *rule;
}

void Failures::take(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    if (is_kind<Look>(done.action) && error.code == Code::not_found) {
        log_warning("Slurm does not know the job any more",
                    {{"JobId", gang.job ? gang.job->ref.id : 0},
                     {"Gang", gang.key.str()}});
        to_.gang_jobs.set(entry, std::nullopt);
        return;
    }
    log_warning(is_refusal(error) ? "refused" : "failed, retrying",
                {{"action", action_name(done.action)},
                 {"Gang", gang.key.str()},
                 {"JobId", gang.job ? gang.job->ref.id : 0},
                 {"err", error.message}});
    const FailureRule &rule = rule_for(done.action);
    Clock::duration delay =
        is_refusal(error)
            ? Attempts::pause_for(entry, rule.refused_first, rule.refused_last)
            : Attempts::pause_for(entry, first_retry, last_retry);
    if ((rule.watch_shows && error.code == Code::conflict) ||
        (rule.gone && error.code == Code::not_found))
        delay = watch_lag;
    if (rule.note)
        delay = std::max(delay, (this->*rule.note)(entry, done));
    if (rule.stale)
        doubt_job(gang, "what was done to it has failed");
    to_.attempts.failed(entry, done.action, error.message,
                        std::max<Clock::duration>(delay, error.retry_after));
}

Clock::duration Failures::submit_failed(GangEntry &entry,
                                        const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    if (error.code == Code::uncertain)
        doubt_submit(entry, to_.context.now);
    if (!is_refusal(error))
        return {};
    Clock::duration pause = to_.attempts.refused(gang, error.message);
    std::string words =
        submit_refused_message(error.message) +
        asked_message(gang, error.message) +
        (entry.excluded.empty() ? std::string()
                                : devices_unfit_message(entry.excluded_reason));
    if (is_size_error(error.message))
        to_.voice.say_unschedulable(entry, words);
    else
        to_.voice.say_refused(entry, words);
    return pause;
}

Clock::duration Failures::adopt_failed(GangEntry &entry, const ActionDone &done)
{
    const Error &error = done.outcome.error();
    if (error.code == Code::uncertain)
        doubt_submit(entry, to_.context.now);
    if (!is_refusal(error))
        return {};
    to_.voice.warn_once(entry, "SlurmJobNotAdopted",
                        not_adopted_message(error.message));
    return {};
}

Clock::duration Failures::volumes_failed(GangEntry &entry,
                                         const ActionDone &done)
{
    const Error &error = done.outcome.error();
    if (is_kind<BindVolumes>(done.action))
        to_.attempts.bind_delayed(entry);
    if (is_refusal(error))
        to_.voice.say(entry, claims_unreadable_message(error.message));
    return {};
}

Clock::duration Failures::bind_failed(GangEntry &entry, const ActionDone &done)
{
    Gang &gang = entry.gang;
    const Error &error = done.outcome.error();
    const Bind &bind = std::get<Bind>(done.action);
    // This code is never returned for the write of a claim.
    if (error.code == Code::uncertain) {
        const auto seen = seen_bound(gang);
        for (const Seat &seat : seats_of(gang, bind))
            if (!seen.contains(seat.pod))
                gang.maybe_bound.insert_or_assign(seat.pod, seat);
    }
    if (gang.job && is_refusal(error))
        to_.voice.say(entry, not_bound_message(gang.job->ref, error.message));
    to_.attempts.bind_delayed(entry);
    return {};
}

} // namespace bridge
