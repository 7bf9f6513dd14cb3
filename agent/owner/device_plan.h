// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices of a job on one of its nodes the claims of Pods there get. It
// has no state: it is asked anew whenever something has changed. Owner thread
// only.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/gres/needs.h"
#include "agent/owner/context.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

class DevicePlan {
  public:
    DevicePlan(const Context &context, const KnownNodes &nodes,
               KnownDevices &devices)
        : context_(context), nodes_(nodes), devices_(devices)
    {
    }

    // Plans for all Pods with these needs, which go to job.nodes[node].
    // may_exceed: the job may have more devices there than they need.
    ClaimsPlan for_node(const Job &job, std::size_t node,
                        const DeviceNeeds &needs, bool may_exceed);

    // Returns the only Slurm node of the job where these claims can be used, or
    // "" if there is no restriction.
    std::string place_of(const Job &job, const DeviceNeeds &needs) const;

    // Returns the GRES for the new job of a Pod whose job is lost: the same
    // devices, in the same number, without those that Slurm does not count on
    // the Pod's node. Slurm gives such devices to nobody, but would refuse the
    // job, and give away all that the Pod uses.
    std::string gres_of_living(const Pod &pod, const DeviceNeeds &needs);

  private:
    ClaimsPlan with_given(const Job &job, std::size_t node,
                          const DeviceNeeds &needs,
                          std::vector<DevicePtr> given, bool may_exceed);
    CpuOffer cpus_for(const DeviceCatalog &catalog, const Job &job,
                      std::size_t node, const DeviceNeeds &needs) const;
    Result<std::vector<DevicePtr>> given(const Job &job, std::size_t node);

    const Context &context_;
    const KnownNodes &nodes_;
    KnownDevices &devices_;
};

} // namespace bridge
