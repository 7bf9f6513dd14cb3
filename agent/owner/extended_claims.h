// SPDX-License-Identifier: GPL-2.0-or-later
// Extended resources that DeviceClasses offer: the one claim of a Pod for them,
// which is made when Slurm has chosen its devices. From then on it is handled
// like any other claim, except that it is deleted when the Pod does not need it
// any more. Also those of device plugins, which have no claim. Owner thread
// only.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/gres/needs.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"

#include <optional>
#include <string>

namespace bridge {

class ExtendedClaims {
  public:
    ExtendedClaims(const Context &context, Agenda &agenda,
                   const GangStore &gangs, const KnownNodes &nodes,
                   KnownDevices &devices)
        : context_(context), agenda_(agenda), gangs_(gangs), nodes_(nodes),
          devices_(devices)
    {
    }

    // Whether the agent has the rights that the gang's Pods need for them, if
    // any. If not, devices gets the reason, and the gang is woken later.
    bool may_use(GangEntry &entry, GangDevices &devices);
    // What those of a Pod of that gang need.
    ExtendedNeeds needs_of(GangEntry &entry, const Pod &pod);
    // The API server lacks the feature gate: they are off for a while.
    void turn_off();

    // For a Pod without a node: returns its claim, which was made for a job
    // that is gone.
    std::optional<ClaimHold> left_of(const Pod &pod) const;
    // Returns why the Node (named as in Kubernetes) cannot serve those of the
    // Pods, or "" if it can.
    std::string unfit_node_reason(const DeviceNeeds &needs,
                                  const std::string &node) const;
    // For a gang without any suitable Node: returns another sentence if a Node
    // would be suitable without its slurmd.
    std::string plugins_elsewhere(const Gang &gang) const;

  private:
    const Context &context_;
    Agenda &agenda_;
    const GangStore &gangs_;
    const KnownNodes &nodes_;
    KnownDevices &devices_;
    Clock::time_point off_until_{};
};

} // namespace bridge
