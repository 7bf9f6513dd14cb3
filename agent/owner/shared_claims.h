// SPDX-License-Identifier: GPL-2.0-or-later
// ResourceClaims that Pods of several jobs use. The job that got the devices
// counts them, and its tag names the claims. It lives on when its own Pods are
// over, until no other Pod uses the devices any more; if Slurm ends it before,
// those Pods end with it. Otherwise Slurm would believe the devices to be free
// while they are in use.
//
// A claim is known by its name here, because users may take its finalizer off
// and delete it while Pods use its devices. Owner thread only.
#pragma once

#include "agent/gang/action.h"
#include "agent/gres/claim_sharing.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/voice.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

class SharedClaims {
  public:
    SharedClaims(const Context &context, const Errands &errands, Agenda &agenda,
                 const Voice &voice, GangStore &gangs, KnownDevices &devices)
        : context_(context), errands_(errands), agenda_(agenda), voice_(voice),
          gangs_(gangs), devices_(devices)
    {
    }

    // Notes and says which Pods live by the devices that the gang's job counts.
    // Returns what decide() must know of the gang's claims and others' Pods.
    CountingFacts update(GangEntry &entry);

    // Whether a job counts the claim's devices for this gang.
    Counting counting(const Gang &follower, const ObjectKey &claim);
    // The plan may be older than what is known now of the job that counts a
    // claim. If the gang may not be bound, it is woken later.
    bool may_follow(GangEntry &entry, const Bind &bind);

    // Takes the complete list of jobs: those of gangs that are not known, as
    // after a restart, may have counted claims.
    void take(const std::vector<Job> &jobs);
    // All claims are listed: whoever uses those is decided again.
    void claims_listed();

  private:
    std::string pod_to_wait_for(const Gang &gang);
    std::string user_of_claim(GangEntry &user, const ObjectKey &claim);
    bool will_be_counted(const ObjectKey &claim);
    void record_counter_end(const Gang &gang, bool seen);
    void set_uncounted(GangEntry &user, const Job &job,
                       const std::string &claim);
    void look_for_ended_counters(GangEntry &user);
    void tell_followers(GangEntry &entry, bool may);
    void report_kept(GangEntry &entry, const std::string &pod);

    const Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    const Voice &voice_;
    GangStore &gangs_;
    KnownDevices &devices_;
    // Jobs that had ended before this agent saw them count these claims.
    std::map<ObjectKey, Job> ended_counters_;
};

} // namespace bridge
