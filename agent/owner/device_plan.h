// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices of a job on one of its nodes the claims of Pods there get. It
// is asked anew whenever something has changed, and remembers only which pools
// are on which Node. Owner thread only.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/gres/device_fits.h"
#include "agent/gres/needs.h"
#include "agent/gres/plan_results.h"
#include "agent/owner/context.h"
#include "agent/owner/device_answers.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

class DevicePlan {
  public:
    DevicePlan(const Context &context, const KnownNodes &nodes,
               KnownDevices &devices, DeviceAnswers &answers)
        : context_(context), nodes_(nodes), devices_(devices), answers_(answers)
    {
    }

    // The plans for the nodes of a job together.
    struct Run {
        // The job may have more devices than its Pods need.
        bool may_exceed = false;
        std::size_t cost = 0; // as steps of selectors
        // It is not known yet which devices fit: the gang is woken when it is.
        bool unanswered = false;
    };
    // Plans for all Pods of the gang with these needs, which go to
    // job.nodes[node].
    ClaimsPlan for_node(const Gang &gang, std::size_t node,
                        const DeviceNeeds &needs, Run &run);

    // Returns the only Slurm node of the job where these claims can be used, or
    // "" if there is no restriction.
    std::string place_of(const Job &job, const DeviceNeeds &needs) const;

    // Returns the GRES for the new job of a Pod whose job is lost: the same
    // devices, in the same number, without those that Slurm does not count on
    // the Pod's node. Slurm gives such devices to nobody, but would refuse the
    // job, and give away all that the Pod uses.
    std::string gres_of_living(const Pod &pod, const DeviceNeeds &needs);

  private:
    ClaimsPlan with_given(const Gang &gang, std::size_t node,
                          const DeviceNeeds &needs,
                          std::vector<DevicePtr> given, Run &run);
    void note_results(const Gang &gang, const DeviceNeeds &needs,
                      const std::vector<DevicePool> &pools,
                      const PlanResults &results, const ClaimsPlan &plan,
                      Run &run);
    std::vector<DevicePool> pools_on(const Node &node);
    CpuOffer cpus_for(const DeviceCatalog &catalog, const Job &job,
                      std::size_t node, const DeviceNeeds &needs) const;
    Result<std::vector<DevicePtr>> given(const Job &job, std::size_t node);

    const Context &context_;
    const KnownNodes &nodes_;
    KnownDevices &devices_;
    DeviceAnswers &answers_;
    NodePools pools_;
};

} // namespace bridge
