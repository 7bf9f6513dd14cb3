// SPDX-License-Identifier: GPL-2.0-or-later
// The coordinator of the owner thread. It pops messages, hands each to the
// parts that it concerns, and lets decide() say what follows for every gang
// that was woken. It has no state of its own: that is in the parts (parts.h). A
// part knows only those above it there, so what it has found for others is
// passed on here.
#pragma once

#include "agent/owner/explain_page.h"
#include "agent/owner/gang_turns.h"
#include "agent/owner/message.h"
#include "agent/owner/parts.h"
#include "common/base/mailbox.h"

#include <memory>
#include <string>

namespace bridge {

class Owner {
  public:
    Owner(std::shared_ptr<const Conf> conf, BridgePorts ports,
          Mailbox<Message> &mailbox);

    // Serves until Stop arrives.
    void run();

    // One turn of run(), for tests: applies the message, and then does whatever
    // follows from it and from the time.
    void handle(Message message, Clock::time_point now);

    // Returns when a turn is due if no message comes before.
    Clock::time_point next_deadline() const;

    // For slurmk8s, Prometheus and the probes; to be called on the owner thread
    // only (Ask).
    const Health &health() const { return to_.context.health; }
    MetricText metrics(MetricFormat format) const;
    std::string status_json() const;
    // Code::not_found when no gang matches, Code::conflict when several Pods
    // have that name.
    Result<Story> story(const StoryKey &key) const;
    // Returns why another agent acts instead of this one; "" when this one
    // acts.
    const std::string &standby() const { return to_.context.standby; }

  private:
    // pod_messages.cc
    void on(Listed<Pod> &pods);
    void on(Changed<Pod> &pod);
    void on(GroupsListed &groups);
    void on(Changed<GroupSpec> &group);
    void count_binding(const Pod &pod);
    void release_held();

    // node_messages.cc
    void on(Listed<Node> &nodes);
    void on(Changed<Node> &node);
    void on(Listed<ForeignPod> &pods);
    void on(Changed<ForeignPod> &pod);
    void on(NodesSynced &synced);
    Clock::time_point node_deadline() const;
    void sync_node_list();

    // device_messages.cc
    void on(Listed<ResourceSlice> &slices);
    void on(Changed<ResourceSlice> &slice);
    void on(Listed<DeviceClass> &classes);
    void on(Changed<DeviceClass> &device_class);
    void on(Listed<ResourceClaim> &claims);
    void on(Changed<ResourceClaim> &claim);

    // hook_messages.cc
    void on(HookReceived &hook);
    void on(HookLost &lost);
    void on(WorkersUnprotected &workers);
    void on_hello(const HookMessage &hello, PluginConnection from);
    void on_ordinary(const HookMessage &hook);
    void on_allocated(const HookMessage &hook);
    void on_ended(const HookMessage &hook);

    // job_messages.cc
    void on(ActionDone &done);
    void on(BatchPodMade &made);
    void on(JobsLoaded &loaded);
    void on(StatesLoaded &loaded);
    void on(GraceTimesLoaded &loaded);

    // owner.cc: the rest.
    void on(Listed<Namespace> &namespaces);
    void on(Changed<Namespace> &ns);
    void on(WatchState &state);
    void on(LeaseNews &news);
    void on(AccessNews &news);
    void on(Ask &ask);
    void on(Reload &reload);
    void on(Stop &stop);
    void set_time(Clock::time_point now);
    void namespaces_changed();
    void wake_all();

    // turn.cc: deciding what to do next, and when.
    void turn();
    void line_up(const std::set<std::string> &woken);
    void note_ends(Gang &gang) const;
    void decide_next();
    void tick();
    void look_at_states();
    bool reads_claims(const GangEntry &entry) const;
    void reconcile(const std::string &uid);
    void derive(GangEntry &entry);
    void derive_placement(GangEntry &entry);
    void count_pending(const std::string &uid, bool wants_submit);

    Mailbox<Message> &mailbox_;
    OwnerParts to_;
    // Woken gangs that are still to be decided: those that read claims, and all
    // others.
    GangTurns readers_;
    GangTurns others_;
    bool stopping_ = false;
};

} // namespace bridge
