// SPDX-License-Identifier: GPL-2.0-or-later
// Derives from ResourceClaims and devices what decide() must know of a gang
// whose Pods use them: what its job has to have, which devices each Pod gets of
// the job, and which Nodes have them. As long as it is not known which devices
// fit, a job that is queued or has nodes stays as it is. It has no state. Owner
// thread only.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/owner/agenda.h"
#include "agent/owner/claim_needs.h"
#include "agent/owner/context.h"
#include "agent/owner/device_plan.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/first_lists.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/predicate_memo.h"
#include "agent/owner/seat_devices.h"

#include <vector>

namespace bridge {

struct DevicesFound {
    GangDevicesPtr devices;   // null: not known yet, or not needed any more
    PlacementFacts placement; // the gang's, narrowed to Nodes with the devices
    bool delay_binding = false; // they hold up the binding of its Pods
    // It is not known yet what its claims need, and so where it may run: the
    // placement of before still holds. devices: what was known before, or that
    // its Pods wait; null: there is nothing to go by.
    bool unanswered = false;
    // Since answers are missing, for which the gang waits; or since there was
    // too much to read for one turn: the next one goes on.
    bool missing = false;
    bool goes_on = false;
};

class GangDeviceFacts {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        const FirstLists &first;
        KnownDevices &devices;
        ExtendedClaims &extended;
        DeviceAnswers &answers;
        ClaimNeeds &needs;
        DevicePlan &plan;
        DeviceTroubles &troubles;
        SeatDevices &seats;
        PredicateMemo &predicates;
    };
    explicit GangDeviceFacts(const Parts &parts) : to_(parts) {}

    // The gang's placement is known but for its devices.
    DevicesFound facts(GangEntry &entry);

  private:
    // Whether the devices can be read. If not, devices gets the reason, and the
    // gang is woken later.
    bool may_read(GangEntry &entry, GangDevices &devices);
    // Returns whether the gang waits for devices that its job has.
    bool read(GangEntry &entry, GangDevices &devices, DevicesFound &found);
    // The needs of these Pods, as far as they are known and fit into this turn.
    std::vector<DeviceNeeds> read_needs(GangEntry &entry,
                                        const std::vector<PodPtr> &pods,
                                        bool describes, GangDevices &devices,
                                        DevicesFound &found);
    // Whether the gang has no job, and what it waits for needs no message yet.
    bool only_waits(const GangEntry &entry, const GangDevices &devices) const;
    // Whether what was known of the gang before is used until there are
    // answers.
    bool keeps_known(const GangEntry &entry, const GangDevices &devices) const;
    bool awaits_newer(const GangEntry &entry) const;
    void note_answers(GangEntry &entry, const DevicesFound &found);
    void wake_sharers(const Gang &gang) const;
    void read_holds(const Gang &gang, bool asks, GangDevices &devices);
    void read_living(GangEntry &entry, GangDevices &devices);
    // Sets what a job for Pods with these needs has to have.
    void describe(GangEntry &entry, const std::vector<DeviceNeeds> &needs,
                  bool asks, GangDevices &devices, PlacementFacts &placement);

    const Parts to_;
};

} // namespace bridge
