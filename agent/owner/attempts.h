// SPDX-License-Identifier: GPL-2.0-or-later
// When an action of a gang is tried again: after a failure, when what was
// refused may be possible, and not before the effect of the last attempt can be
// seen. It alone writes what GangEntry has about that. Owner thread only.
#pragma once

#include "agent/decide/refusals.h"
#include "agent/gang/action.h"
#include "agent/gang/store.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"

#include <string>

namespace bridge {

class Attempts {
  public:
    Attempts(const Context &context, Agenda &agenda, GangStore &gangs)
        : context_(context), agenda_(agenda), gangs_(gangs)
    {
    }

    // Holds this kind of action back.
    void hold(GangEntry &entry, const Action &action, Clock::duration delay);
    bool is_held(const GangEntry &entry, const Action &action) const;

    // The action has worked: failures before it do not count any more.
    void worked(GangEntry &entry, const Action &action);
    // It has failed, with this text, and is held back.
    void failed(GangEntry &entry, const Action &action,
                const std::string &message, Clock::duration delay);

    // The pause after as many failures as the gang has had in a row.
    static Clock::duration pause_for(const GangEntry &entry,
                                     Clock::duration first,
                                     Clock::duration last);
    // The same after a job was given up, which counts as one more.
    static Clock::duration renewal_pause(GangEntry &entry);

    // Slurm has refused a job for the gang in these words. Returns the shortest
    // pause until the gang asks again.
    Clock::duration refused(const Gang &gang, const std::string &message);
    // The gang does not ask for a job any more.
    void withdrawn(const std::string &uid) { refusals_.remove(uid); }

    // The job of the gang cannot be bound now; after BindTimeout it is given
    // up.
    void bind_delayed(GangEntry &entry);
    // What delayed it is over.
    static void bind_goes_on(GangEntry &entry)
    {
        entry.bind_failing_since.reset();
    }
    // Its Pods carry the mark of a new job.
    static void restamped(GangEntry &entry) { entry.renewals = 0; }
    // It is bound.
    static void bound(GangEntry &entry);
    // It was given up.
    static void given_up(GangEntry &entry);
    // No other is requested for this time.
    Clock::duration pause_submit(GangEntry &entry);

    // Tries again what was refused, since it may be possible now: at once, or
    // after this time unless it is due before.
    void again(GangEntry &entry, Clock::duration after = {});
    // The same for all gangs, or all of a namespace.
    void all_again(const std::string &ns = {});
    // The gang has got a job: what was refused in the same words may be
    // possible, too.
    void same_again(const std::string &uid);
    // The nodes have other features: only adoptions wait for these.
    void adoptions_again();

  private:
    const Context &context_;
    Agenda &agenda_;
    GangStore &gangs_;
    Refusals refusals_;
};

} // namespace bridge
