// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices the waiting Pods of a gang get from its job, node by node, or
// why some of them cannot have them now. Owner thread only.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/gres/needs.h"
#include "agent/owner/claim_needs.h"
#include "agent/owner/device_plan.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/known_nodes.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

class SeatDevices {
  public:
    struct Parts {
        const KnownNodes &nodes;
        ExtendedClaims &extended;
        ClaimNeeds &needs;
        DevicePlan &plan;
        DeviceTroubles &troubles;
    };
    explicit SeatDevices(const Parts &parts) : to_(parts) {}

    // Plans for the job of the gang, which has nodes. needs: of the Pods that
    // wait, by uid. Returns whether they wait for devices.
    bool plan(GangEntry &entry, const std::map<std::string, DeviceNeeds> &needs,
              GangDevices &devices);

  private:
    struct OnNode;
    using ByNode = std::map<std::string, OnNode>; // by Slurm's name

    Result<std::vector<Seat>> seats_in(const Gang &gang,
                                       const GangDevices &devices) const;
    // Whether other Pods have what its claims name.
    bool is_used_by_others(const Gang &gang, const Pod &pod,
                           const DeviceNeeds &needs);
    ClaimsPlan trouble_with(const Gang &gang, const Seat &seat,
                            const DeviceNeeds &needs);
    // Both return whether some Pods may have their devices soon.
    bool plan_seats(const Gang &gang, const std::vector<Seat> &seats,
                    const std::map<std::string, DeviceNeeds> &needs,
                    ByNode &by_node, GangDevices &devices);
    bool plan_nodes(GangEntry &entry, const ByNode &by_node,
                    GangDevices &devices);
    static bool set_aside(GangDevices &devices, const ClaimsPlan &plan,
                          const OnNode &pods);

    const Parts to_;
};

} // namespace bridge
