// SPDX-License-Identifier: GPL-2.0-or-later
// What the failure of an action changes, and when the action is tried again: a
// table of actions and codes. It has no state. Owner thread only.
#pragma once

#include "agent/act/act.h"
#include "agent/owner/attempts.h"
#include "agent/owner/context.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/message.h"
#include "agent/owner/voice.h"

namespace bridge {

struct FailureRule; // failures.cc

class Failures {
  public:
    struct Parts {
        const Context &context;
        Attempts &attempts;
        Voice &voice;
        GangJobs &gang_jobs;
    };
    explicit Failures(const Parts &parts) : to_(parts) {}

    // done.outcome is an error.
    void take(GangEntry &entry, const ActionDone &done);

  private:
    friend struct FailureRule;

    static const FailureRule &rule_for(const Action &action);
    // Each returns the shortest pause until the action is tried again.
    Clock::duration bind_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration volumes_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration submit_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration adopt_failed(GangEntry &entry, const ActionDone &done);

    const Parts to_;
};

} // namespace bridge
