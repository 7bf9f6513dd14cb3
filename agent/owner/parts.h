// SPDX-License-Identifier: GPL-2.0-or-later
// All parts of the owner thread, and who knows whom: a part is given references
// to those that it may call, which stand above it. What several of them need
// and none owns stands here as well. Owner thread only.
#pragma once

#include "agent/owner/adoptions.h"
#include "agent/owner/agenda.h"
#include "agent/owner/attempts.h"
#include "agent/owner/batch_intake.h"
#include "agent/owner/batch_jobs.h"
#include "agent/owner/batch_marks.h"
#include "agent/owner/batch_pods.h"
#include "agent/owner/claim_needs.h"
#include "agent/owner/context.h"
#include "agent/owner/device_answers.h"
#include "agent/owner/device_plan.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/dispatch.h"
#include "agent/owner/early_hooks.h"
#include "agent/owner/errands.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/failures.h"
#include "agent/owner/first_lists.h"
#include "agent/owner/gang_device_facts.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/grace_limits.h"
#include "agent/owner/group_times.h"
#include "agent/owner/groups.h"
#include "agent/owner/held_pods.h"
#include "agent/owner/het_jobs.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/job_sync.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/lost_nodes.h"
#include "agent/owner/message.h"
#include "agent/owner/node_demands.h"
#include "agent/owner/node_marks.h"
#include "agent/owner/node_sync.h"
#include "agent/owner/outcomes.h"
#include "agent/owner/outside_pods.h"
#include "agent/owner/permission.h"
#include "agent/owner/pins.h"
#include "agent/owner/placement.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/predicate_memo.h"
#include "agent/owner/queue_places.h"
#include "agent/owner/room.h"
#include "agent/owner/seat_devices.h"
#include "agent/owner/shadows.h"
#include "agent/owner/shared_claims.h"
#include "agent/owner/steps.h"
#include "agent/owner/sync_times.h"
#include "agent/owner/voice.h"
#include "agent/owner/volume_looks.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace bridge {

struct OwnerParts {
    OwnerParts(std::shared_ptr<const Conf> conf, BridgePorts ports,
               Mailbox<Message> &mailbox)
        : context{.conf = std::move(conf), .ports = std::move(ports)},
          errands{context.ports, mailbox}
    {
    }

    // Until all of the first lists are there, the agent only listens.
    bool pods_listed() const
    {
        return first.has_all_pods() && !held.any_of_first();
    }
    bool synced() const { return pods_listed() && first.has_the_rest(); }

    Context context;
    Errands errands;
    std::map<std::string, Namespace> namespaces;
    GangStore gangs;
    Agenda agenda{context};
    PluginLine line{context};
    FirstLists first{context.conf->scheduler_names.size()};
    JobLists lists{context, errands, line};
    GraceLimits grace{context, errands, agenda};
    Groups groups{context, errands, agenda, gangs};
    GroupTimes times{context, agenda, groups};
    HeldPods held{context, groups.table(), gangs};
    KnownNodes nodes;
    LostNodes lost_nodes{context, nodes, gangs, agenda};
    Voice voice{errands, gangs, nodes};
    Attempts attempts{context, agenda, gangs};
    VolumeLooks volumes{context, agenda, attempts, voice};
    SyncTimes sync{context};
    EarlyHooks early_hooks{context, line, lists, gangs, nodes};
    QueuePlaces places{context};
    PredicateMemo predicates;
    Placement placement{context, agenda, sync, gangs, nodes, predicates};
    OutsidePods outside{context, sync, nodes};
    Shadows shadows{line};
    Pins pins;
    NodeMarks node_marks{context, errands, sync, nodes};
    NodeSync node_sync{context, errands, line, sync, gangs, nodes};
    GangJobs gang_jobs{context, {agenda, line, early_hooks, gangs}};
    HetJobs het_jobs{context, errands, gangs};
    Adoptions adoptions{context, {errands, lists, voice, gangs, nodes, pins}};
    JobSync job_sync{context,
                     {errands, agenda, line, lists, voice, gangs, gang_jobs,
                      het_jobs, adoptions}};
    Room room{
        context,
        {errands, agenda, line, sync, voice, gangs, nodes, outside.foreign()}};
    KnownDevices devices{context, sync, gangs};
    SharedClaims shared_claims{context, errands, agenda, voice, gangs, devices};
    ExtendedClaims extended{context, agenda, gangs, nodes, devices};
    DeviceAnswers device_answers{context, errands, agenda, devices};
    ClaimNeeds claim_needs{{context, gangs, nodes, namespaces, devices,
                            shared_claims, extended, device_answers}};
    DevicePlan device_plan{context, agenda, nodes, devices, device_answers};
    DeviceTroubles device_troubles{
        {context, agenda, attempts, voice, gangs, room, devices}};
    SeatDevices seat_devices{
        {nodes, extended, claim_needs, device_plan, device_troubles}};
    GangDeviceFacts device_facts{{context, agenda, first, devices, extended,
                                  device_answers, claim_needs, device_plan,
                                  device_troubles, seat_devices, predicates}};
    BatchCaches batch_caches; // shared with workers
    BatchJobs batch_jobs{context, errands, line,        grace,
                         nodes,   gangs,   batch_caches};
    BatchPods batch_pods{context, errands, agenda, lists, gangs, batch_caches};
    BatchIntake batch_intake{
        {context, agenda, line, lists, gangs, gang_jobs, het_jobs, batch_jobs}};
    NodeDemands node_demands{context, errands, lists};
    Permission permission{{context, agenda, attempts, voice, gangs, namespaces,
                           places, placement, sync, pins, shared_claims, room}};
    Steps steps{{context, agenda, voice, gangs, groups, times, gang_jobs, lists,
                 device_troubles, batch_pods}};
    Dispatch dispatch{
        {context, errands, line, voice, nodes, namespaces, het_jobs, devices}};
    Failures failures{{context, attempts, voice, gang_jobs}};
    Outcomes outcomes{{context, agenda, attempts, voice, gangs, groups,
                       gang_jobs, lists, devices, extended, device_troubles,
                       volumes, batch_intake, failures}};
};

} // namespace bridge
