// SPDX-License-Identifier: GPL-2.0-or-later
// What an action that has come back from the workers changes in what is known.
// It has no state: it tells the parts that have, and writes into the gang what
// only the outcome knows, such as which bindings have succeeded. Failures has
// the actions that failed. Owner thread only.
#pragma once

#include "agent/act/act.h"
#include "agent/owner/attempts.h"
#include "agent/owner/batch_intake.h"
#include "agent/owner/context.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/failures.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/groups.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/voice.h"
#include "agent/owner/volume_looks.h"

namespace bridge {

class Outcomes {
  public:
    struct Parts {
        Context &context;
        Agenda &agenda;
        Attempts &attempts;
        Voice &voice;
        GangStore &gangs;
        Groups &groups;
        GangJobs &gang_jobs;
        JobLists &lists;
        KnownDevices &devices;
        ExtendedClaims &extended;
        DeviceTroubles &device_troubles;
        VolumeLooks &volumes;
        BatchIntake &batch_intake;
        Failures &failures;
    };
    explicit Outcomes(const Parts &parts) : to_(parts) {}

    // Takes the outcome of the gang's action; the gang is woken.
    void take(ActionDone &done);

  private:
    void record_outcome(GangEntry &entry, const Action &action,
                        Outcome &outcome);
    void record_still_there(GangEntry &entry, StillThere &there,
                            const Action &action);
    void record_submitted(GangEntry &entry, const Submitted &submitted,
                          const Action &action);
    void record_job_read(GangEntry &entry, Looked &looked);
    void record_bound(GangEntry &entry, const Bind &bind);
    void record_done(GangEntry &entry, const Action &action);
    void record_job_ended(GangEntry &entry, const Action &action);
    void record_renewed(GangEntry &entry, const Renew &renew);
    void report_given_up(GangEntry &entry, const Renew &renew,
                         Clock::duration pause);

    const Parts to_;
};

} // namespace bridge
