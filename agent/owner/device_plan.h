// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices of a job on one of its nodes the claims of Pods there get. It
// is asked anew whenever something has changed, and remembers which pools are
// on which Node. The plans for a job's nodes are kept in its gang's entry until
// the Pods are bound. Owner thread only.
#pragma once

#include "agent/gres/claim_plan.h"
#include "agent/gres/device_fits.h"
#include "agent/gres/needs.h"
#include "agent/gres/plan_results.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/device_answers.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

class DevicePlan {
  public:
    DevicePlan(const Context &context, Agenda &agenda, const KnownNodes &nodes,
               KnownDevices &devices, DeviceAnswers &answers)
        : context_(context), agenda_(agenda), nodes_(nodes), devices_(devices),
          answers_(answers)
    {
    }

    // The plans for the nodes of a job together, in one turn.
    struct Run {
        // The job may have more devices than its Pods need.
        bool may_exceed = false;
        std::size_t cost = 0; // as steps of selectors
        // It is not known yet which devices fit, or the turn was too short and
        // the next one goes on. The gang is woken for both.
        bool missing = false;
        bool goes_on = false;
        bool lost = false; // a plan, by what others have changed

        bool unanswered() const { return missing || goes_on; }
    };
    // Plans for all Pods of the gang with these needs, which go to
    // job.nodes[node]. Null: there is no plan yet, and the run is unanswered.
    std::shared_ptr<const ClaimsPlan> for_node(GangEntry &entry,
                                               std::size_t node,
                                               const DeviceNeeds &needs,
                                               Run &run);
    // All nodes of the job were asked for.
    void end(GangEntry &entry, const Run &run);
    // The gang has no job with nodes, or none of its Pods waits.
    static void forget(GangEntry &entry) { entry.node_plans = {}; }

    // Returns the only Slurm node of the job where these claims can be used, or
    // "" if there is no restriction.
    std::string place_of(const Job &job, const DeviceNeeds &needs) const;

    // Returns the GRES for the new job of a Pod whose job is lost: the same
    // devices, in the same number, without those that Slurm does not count on
    // the Pod's node. Slurm gives such devices to nobody, but would refuse the
    // job, and give away all that the Pod uses.
    std::string gres_of_living(const Pod &pod, const DeviceNeeds &needs);

  private:
    ClaimsPlan trouble_on(const Job &job, std::size_t node,
                          const DeviceNeeds &needs,
                          std::vector<DevicePtr> &given);
    ClaimsPlan with_given(const Gang &gang, std::size_t node,
                          const DeviceNeeds &needs,
                          std::vector<DevicePtr> given,
                          const std::vector<DevicePool> &pools, Run &run);
    void ask_results(const Gang &gang, const DeviceNeeds &needs,
                     const std::vector<DevicePool> &pools, Run &run);
    std::vector<DevicePool> pools_on(const Node &node);
    CpuOffer cpus_for(const DeviceCatalog &catalog, const Job &job,
                      std::size_t node, const DeviceNeeds &needs) const;
    Result<std::vector<DevicePtr>> given_on(const Job &job, std::size_t node);

    const Context &context_;
    Agenda &agenda_;
    const KnownNodes &nodes_;
    KnownDevices &devices_;
    DeviceAnswers &answers_;
    NodePools pools_;
};

} // namespace bridge
