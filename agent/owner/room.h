// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's half of the gate: tells prep/k8s which nodes are dirty, and
// decides who may start on them. NodeGate knows which nodes these are, and what
// fits there; this asks slurmctld for what NodeGate must know, and wakes those
// who waited. Owner thread only.
#pragma once

#include "agent/gang/action.h"
#include "agent/gang/node_gate.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/plugin_line.h"
#include "agent/owner/sync_times.h"
#include "agent/owner/voice.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class Room {
  public:
    // What the room on a node depends on, and who is told of it.
    struct Parts {
        const Errands &errands;
        Agenda &agenda;
        PluginLine &line;
        SyncTimes &sync;
        Voice &voice;
        GangStore &gangs;
        const KnownNodes &nodes;
        const ForeignPods &foreign;
    };
    Room(Context &context, const Parts &parts)
        : context_(context), to_(parts), gate_(parts.gangs)
    {
    }

    // What changes who is where: a state of a Pod, the end of its object (gang:
    // its own, or null), the gang's decision, Slurm's nodes, all.
    void note(const Pod &pod) { gate_.note(pod, context_.now); }
    void note_gone(const Pod &last, const Gang *gang);
    void touch(const Gang &gang);
    void touch_all() { gate_.touch_all(); }
    void nodes_changed();

    // An ordinary job waits on a dirty node, as the plugin says. The plugin is
    // gone, or another one is connected and says again who waits.
    void queue_ordinary(JobRef job);
    void forget_ordinary() { gate_.forget_ordinary(); }

    // Wakes gangs whose nodes are free now; before gangs are decided.
    void wake_blocked();
    // Whether each Pod may be bound now. If not, the gang is woken when that
    // changes.
    bool may_bind(GangEntry &entry, const Bind &bind);
    // When those that wait on this Node are to leave it for the new job of a
    // Pod that lives there; nothing if no such job waits.
    std::optional<Clock::time_point> adoption_due(const std::string &node);
    // Tells the plugin what has changed, and asks slurmctld for those who wait;
    // after gangs are decided, and when it is due.
    void process();
    Clock::time_point due() const;

    const std::set<std::string> &dirty() { return gate_.dirty(); }
    const NodeGate &gate() const { return gate_; }

  private:
    struct Wait {
        JobRef job;
        Clock::time_point since;
        bool draining = false; // the wait took too long
    };

    void tell_nodes();
    void load();
    void take(const Result<RoomAnswer> &answer);
    void wait_for_room(GangEntry &entry, JobRef job, const std::string &node);
    void drain(const std::string &uid, JobRef job, const std::string &node);
    void drained(const std::string &uid, JobRef job, const Result<> &done);

    Context &context_;
    const Parts to_;
    NodeGate gate_;
    // By Node: gangs that wait until containers of an ended job have left it.
    std::map<std::string, std::set<std::string>> blocked_;
    std::map<std::string, Wait> waits_; // by gang uid
    std::set<std::string> dirty_before_;
    bool loading_ = false;
    Clock::time_point load_due_{};
};

} // namespace bridge
