// SPDX-License-Identifier: GPL-2.0-or-later
// The owner thread, which alone holds the agent's state. A message updates what
// is known and wakes a gang; decide() says what to do next; a worker does it,
// and its outcome is the next message. Nothing here blocks.
#pragma once

#include "agent/act/workload_wishes.h"
#include "agent/gang/store.h"
#include "agent/owner/adoptions.h"
#include "agent/owner/agenda.h"
#include "agent/owner/attempts.h"
#include "agent/owner/batch_jobs.h"
#include "agent/owner/batch_marks.h"
#include "agent/owner/batch_pods.h"
#include "agent/owner/claim_needs.h"
#include "agent/owner/context.h"
#include "agent/owner/device_plan.h"
#include "agent/owner/device_troubles.h"
#include "agent/owner/early_hooks.h"
#include "agent/owner/errands.h"
#include "agent/owner/explain_page.h"
#include "agent/owner/extended_claims.h"
#include "agent/owner/first_lists.h"
#include "agent/owner/gang_device_facts.h"
#include "agent/owner/gang_jobs.h"
#include "agent/owner/grace_limits.h"
#include "agent/owner/groups.h"
#include "agent/owner/held_pods.h"
#include "agent/owner/het_jobs.h"
#include "agent/owner/illness.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/job_sync.h"
#include "agent/owner/known_devices.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/message.h"
#include "agent/owner/node_marks.h"
#include "agent/owner/node_sync.h"
#include "agent/owner/outside_pods.h"
#include "agent/owner/pins.h"
#include "agent/owner/placement.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/queue_places.h"
#include "agent/owner/room.h"
#include "agent/owner/seat_devices.h"
#include "agent/owner/shadows.h"
#include "agent/owner/shared_claims.h"
#include "agent/owner/sync_times.h"
#include "agent/owner/voice.h"
#include "common/base/mailbox.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace bridge {

struct FailureRule; // failure.cc

class Bridge {
  public:
    Bridge(std::shared_ptr<const Conf> conf, BridgePorts ports,
           Mailbox<Message> &mailbox);

    // Serves until Stop arrives.
    void run();

    // One turn of run(), for tests: applies the message, and then does whatever
    // follows from it and from the time.
    void handle(Message message, Clock::time_point now);

    // Returns when a turn is due if no message comes before.
    Clock::time_point next_deadline() const;

    // For slurmk8s and the probes; to be called on the owner thread only (Ask).
    const Health &health() const { return context_.health; }
    std::string metrics() const;
    std::string status_json() const;
    // Code::not_found when no gang matches, Code::conflict when several Pods
    // have that name.
    Result<Story> story(const StoryKey &key) const;
    // Returns why another agent acts instead of this one; "" when this one
    // acts.
    const std::string &standby() const { return standby_; }

  private:
    // bridge.cc, device_messages.cc, nodes.cc: messages from Kubernetes and
    // from people. hooks.cc, jobs.cc, batch.cc, outcome.cc, turn.cc: messages
    // about Slurm's jobs. failure.cc: actions that failed.
    void on(Listed<Pod> &pods);
    void on(Changed<Pod> &pod);
    void on(Listed<Node> &nodes);
    void on(Changed<Node> &node);
    void on(Listed<ForeignPod> &pods);
    void on(Changed<ForeignPod> &pod);
    void on(Listed<Namespace> &namespaces);
    void on(Changed<Namespace> &ns);
    void on(GroupsListed &groups);
    void on(Changed<GroupSpec> &group);
    void on(Listed<ResourceSlice> &slices);
    void on(Changed<ResourceSlice> &slice);
    void on(Listed<DeviceClass> &classes);
    void on(Changed<DeviceClass> &device_class);
    void on(Listed<ResourceClaim> &claims);
    void on(Changed<ResourceClaim> &claim);
    void on(WatchState &state);
    void on(HookReceived &hook);
    void on(HookLost &lost);
    void on(ActionDone &done);
    void on(JobsLoaded &loaded);
    void on(StatesLoaded &loaded);
    void on(GraceTimesLoaded &loaded);
    void on(BatchPodMade &made);
    void on(NodesSynced &synced);
    void on(LeaseNews &news);
    void on(AccessNews &news);
    void on(Ask &ask);
    void on(Reload &reload);
    void on(Stop &stop);

    void on_hello(const HookMessage &hello, PluginConnection from);
    void on_ordinary(const HookMessage &hook);
    void on_allocated(const HookMessage &hook);
    void on_ended(const HookMessage &hook);
    void record_outcome(GangEntry &entry, const Action &action,
                        Outcome &outcome);
    void record_still_there(GangEntry &entry, StillThere &there,
                            const Action &action);
    void record_failure(GangEntry &entry, const ActionDone &done);
    static const FailureRule &failure_rule(const Action &action);
    Clock::duration bind_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration volumes_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration submit_failed(GangEntry &entry, const ActionDone &done);
    Clock::duration adopt_failed(GangEntry &entry, const ActionDone &done);
    void submit_uncertain(GangEntry &entry);
    void record_done(GangEntry &entry, const Action &action);
    void record_job_ended(GangEntry &entry, const Action &action);
    void record_renewed(GangEntry &entry, const Renew &renew);
    void report_given_up(GangEntry &entry, const Renew &renew,
                         Clock::duration pause);
    void record_submitted(GangEntry &entry, const Submitted &submitted,
                          const Action &action);
    void record_job_read(GangEntry &entry, Looked &looked);
    void record_volumes(GangEntry &entry, VolumesSeen &seen,
                        const Action &action);
    void record_bind_delay(GangEntry &entry);

    // turn.cc: deciding what to do next, and when.
    bool pods_listed() const;
    bool synced() const;
    void turn();
    void tick();
    void reconcile(const std::string &uid);
    void update_placement(GangEntry &entry);
    void count_pending(const std::string &uid, bool wants_submit);
    void look_at_states();
    void wake_all();

    // carry_out.cc, dispatch.cc: doing it.
    bool may_act(GangEntry &entry, const Action &action);
    bool may_submit(GangEntry &entry);
    bool may_adopt(GangEntry &entry);
    void take(GangEntry &entry, const OwnerStep &step);
    void dispatch(GangEntry &entry, Action action);

    // batch.cc: jobs of sbatch, which get their Pods once they have nodes.
    bool register_batch_job(Job &job, const std::map<JobRef, GangTag> &bound);
    void record_remade(GangEntry &entry, JobRef job);

    // nodes.cc: Kubernetes Nodes, and the Slurm nodes made for them.
    Clock::time_point node_deadline() const;
    void sync_node_list();

    // story.cc
    Story make_story(const GangEntry &entry) const;
    std::vector<Blocker> blockers_of(const Gang &gang, const Bind &bind) const;

    // gang.cc: Pods that belong together.
    void update_group(GangEntry &entry);
    void record_ends(Gang &gang);
    void update_first_pod(GangEntry &entry);
    bool is_growing(GangEntry &entry);
    void record_bound(GangEntry &entry, const Bind &bind);
    void split(const std::string &uid);
    bool is_needed(JobRef lost) const; // by Pods that were split from it

    // bridge.cc
    void set_time(Clock::time_point now);
    void release_held();

    Mailbox<Message> &mailbox_;
    Context context_;
    Errands errands_{context_.ports, mailbox_};
    Agenda agenda_{context_};
    PluginLine line_{context_};
    FirstLists first_{context_.conf->scheduler_names.size()};
    JobLists lists_{context_, errands_, line_};
    GraceLimits grace_{context_, errands_, agenda_};
    bool stopping_ = false;
    std::string standby_;
    std::map<std::string, std::string> features_off_; // the reasons, by feature

    GangStore gangs_;
    Groups groups_{context_, errands_, agenda_, gangs_};
    HeldPods held_{context_, groups_.table(), gangs_};
    KnownNodes nodes_;
    Illness illness_{context_, nodes_, gangs_, agenda_};
    Voice voice_{errands_, gangs_, nodes_};
    Attempts attempts_{context_, agenda_, gangs_};
    SyncTimes sync_{context_};
    EarlyHooks early_hooks_{context_, line_, lists_, gangs_, nodes_};
    QueuePlaces places_{context_};
    Placement placement_{context_, agenda_, sync_, gangs_, nodes_};
    OutsidePods outside_{sync_, nodes_};
    Shadows shadows_{line_};
    Pins pins_;
    NodeMarks node_marks_{context_, errands_, sync_, nodes_};
    NodeSync node_sync_{context_, errands_, line_, sync_, gangs_, nodes_};
    GangJobs gang_jobs_{context_, {agenda_, line_, early_hooks_, gangs_}};
    HetJobs het_jobs_{context_, errands_, gangs_};
    Adoptions adoptions_{context_,
                         {errands_, lists_, voice_, gangs_, nodes_, pins_}};
    JobSync job_sync_{context_,
                      {errands_, agenda_, line_, lists_, voice_, gangs_,
                       gang_jobs_, het_jobs_, adoptions_}};
    Room room_{context_,
               {errands_, agenda_, line_, sync_, voice_, gangs_, nodes_,
                outside_.foreign()}};
    std::map<std::string, Namespace> namespaces_;
    KnownDevices devices_{context_, sync_, gangs_};
    SharedClaims shared_claims_{context_, errands_, agenda_,
                                voice_,   gangs_,   devices_};
    ExtendedClaims extended_{context_, agenda_, gangs_, nodes_, devices_};
    ClaimNeeds claim_needs_{{context_, gangs_, nodes_, namespaces_, devices_,
                             shared_claims_, extended_}};
    DevicePlan device_plan_{context_, nodes_, devices_};
    DeviceTroubles device_troubles_{
        {context_, agenda_, attempts_, voice_, gangs_, room_, devices_}};
    SeatDevices seat_devices_{
        {nodes_, extended_, claim_needs_, device_plan_, device_troubles_}};
    GangDeviceFacts device_facts_{{context_, agenda_, first_, devices_,
                                   extended_, claim_needs_, device_plan_,
                                   device_troubles_, seat_devices_}};
    BatchCaches batch_caches_; // shared with workers
    BatchJobs batch_jobs_{context_, errands_, line_,        grace_,
                          nodes_,   gangs_,   batch_caches_};
    BatchPods batch_pods_{context_, errands_, agenda_,
                          lists_,   gangs_,   batch_caches_};

    Owners owners_; // shared with workers
};

} // namespace bridge
