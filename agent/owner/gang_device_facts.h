// SPDX-License-Identifier: GPL-2.0-or-later
// Derives from ResourceClaims and devices what decide() must know of a gang
// whose Pods use them: what its job has to have, and which devices each Pod
// gets of the job. It alone writes devices and devices_at of a Gang, and has no
// state. Owner thread only.
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
#include "agent/owner/seat_devices.h"

#include <vector>

namespace bridge {

class GangDeviceFacts {
  public:
    struct Parts {
        const Context &context;
        Agenda &agenda;
        const FirstLists &first;
        KnownDevices &devices;
        ExtendedClaims &extended;
        ClaimNeeds &needs;
        DevicePlan &plan;
        DeviceTroubles &troubles;
        SeatDevices &seats;
    };
    explicit GangDeviceFacts(const Parts &parts) : to_(parts) {}

    // The gang's predicate is known but for its devices, which narrow it.
    // Returns whether its devices hold up the binding of its Pods.
    bool update(GangEntry &entry);

  private:
    // Whether the devices can be read. If not, devices gets the reason, and the
    // gang is woken later.
    bool may_read(GangEntry &entry, GangDevices &devices);
    // Returns whether the gang waits for devices that its job has.
    bool read(GangEntry &entry, GangDevices &devices);
    void read_holds(const Gang &gang, bool asks, GangDevices &devices);
    void read_living(GangEntry &entry, GangDevices &devices);
    // Sets what a job for Pods with these needs has to have.
    void describe(GangEntry &entry, const std::vector<DeviceNeeds> &needs,
                  bool asks, GangDevices &devices);

    const Parts to_;
};

} // namespace bridge
