// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/attempts.h"

#include "agent/gang/flags.h"
#include "common/base/backoff.h"

#include <algorithm>
#include <map>

namespace bridge {

namespace {

constexpr std::chrono::seconds renew_pause{1}; // the new job may not fit either
constexpr std::chrono::seconds last_renew_pause{300};

template <class Kind> bool holds_back(const GangEntry &entry)
{
    return entry.postponed == Action(Kind{}).index();
}

} // namespace

void Attempts::hold(GangEntry &entry, const Action &action,
                    Clock::duration delay)
{
    entry.postponed = action.index();
    entry.postponed_until = context_.now + delay;
}

bool Attempts::is_held(const GangEntry &entry, const Action &action) const
{
    return entry.postponed == action.index() &&
           context_.now < entry.postponed_until;
}

// A look that worked says nothing about the action that failed before it.
void Attempts::worked(GangEntry &entry, const Action &action)
{
    bool reads = std::holds_alternative<Look>(action) ||
                 std::holds_alternative<LookVolumes>(action);
    if (reads && entry.postponed != action.index())
        return;
    entry.failures = 0;
    entry.last_failure.clear();
    entry.postponed.reset();
}

void Attempts::failed(GangEntry &entry, const Action &action,
                      const std::string &message, Clock::duration delay)
{
    entry.failures++;
    entry.last_failure = message;
    hold(entry, action, delay);
}

Clock::duration Attempts::pause_for(const GangEntry &entry,
                                    Clock::duration first, Clock::duration last)
{
    return doubled(first, last, entry.failures);
}

Clock::duration Attempts::renewal_pause(GangEntry &entry)
{
    return doubled<Clock::duration>(renew_pause, last_renew_pause,
                                    entry.renewals++);
}

Clock::duration Attempts::refused(const Gang &gang, const std::string &message)
{
    refusals_.add(gang.uid, gang.key.ns, message);
    return refusals_.pause(gang.key.ns);
}

void Attempts::again(GangEntry &entry, Clock::duration after)
{
    bool refused = holds_back<Submit>(entry) || holds_back<Adopt>(entry);
    if (refused && !entry.in_flight) {
        entry.postponed_until =
            std::min(entry.postponed_until, context_.now + after);
        entry.failures = 0;
        if (entry.postponed_until <= context_.now)
            entry.postponed.reset();
    }
    agenda_.wake(entry.gang.uid);
}

// Many that were refused are not tried at once: agent/decide/refusals.h.
void Attempts::all_again(const std::string &ns)
{
    std::map<std::string, std::size_t> tried; // by namespace
    for (auto &[uid, entry] : gangs_.all()) {
        const std::string &own = entry.gang.key.ns;
        if (!ns.empty() && own != ns)
            continue;
        // Adoptions do not wait: their Pods run.
        bool waits = holds_back<Submit>(entry) && !entry.in_flight;
        again(entry, refusals_.turn(waits ? tried[own]++ : 0));
    }
}

void Attempts::same_again(const std::string &uid)
{
    Clock::duration after{};
    for (const std::string &other : refusals_.accept(uid))
        if (GangEntry *entry = gangs_.find(other)) {
            again(*entry, after);
            after += Refusals::short_spacing;
        }
}

// Refusals of other requests keep their pause, even while gangs are adopted one
// after another.
void Attempts::adoptions_again()
{
    for (auto &[uid, entry] : gangs_.all())
        if (holds_back<Adopt>(entry))
            again(entry);
        else
            agenda_.wake(uid);
}

void Attempts::bind_delayed(GangEntry &entry)
{
    if (!entry.bind_failing_since)
        entry.bind_failing_since = context_.now;
    if (context_.now - *entry.bind_failing_since >= context_.conf->bind_timeout)
        give_up_binding(entry.gang, "BindTimeout has passed");
}

void Attempts::given_up(GangEntry &entry)
{
    entry.gang.bind_overdue = false;
    entry.bind_failing_since.reset();
}

void Attempts::bound(GangEntry &entry)
{
    given_up(entry);
    entry.renewals = 0;
}

Clock::duration Attempts::pause_submit(GangEntry &entry)
{
    Clock::duration pause = renewal_pause(entry);
    hold(entry, Submit{}, pause);
    entry.submit_after = context_.now + pause;
    return pause;
}

} // namespace bridge
