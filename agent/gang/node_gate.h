// SPDX-License-Identifier: GPL-2.0-or-later
// Tells which nodes are dirty, and which jobs may start there nevertheless.
// Slurm frees a node's resources when a job ends, but containers may take their
// whole grace period to stop. A Pod without a living job makes its node dirty:
// what Slurm has allocated and what such Pods still use may together exceed the
// node.
//
//   A job may start on dirty nodes if, on each dirty node of its own:
//     requests of the uncovered Pods
//     + what Slurm gave to other jobs that have started
//     + what Slurm gave to this job
//     <= what the node has
//   and none of the uncovered Pods has devices, if the job has GRES.
//
// A Pod on a node without a slurmd needs no such check: all that Slurm
// allocated there are Pods, so kubelet's own sum is complete.
//
// Works on the facts of the owner thread and is used only by it. No I/O.
#pragma once

#include "agent/gang/store.h"
#include "agent/gang/vanished_pods.h"
#include "agent/objects/foreign_pods.h"
#include "agent/objects/node_map.h"
#include "common/slurm/api.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// Slurm's nodes, and then its jobs: a job that is still allocated in the second
// answer was allocated when the nodes were read.
struct RoomAnswer {
    std::vector<JobRef> asked;
    std::vector<SlurmNode> nodes;
    std::vector<Job> jobs;     // those of `asked` that still exist
    std::set<JobId> allocated; // all allocated jobs
};

class NodeGate {
  public:
    explicit NodeGate(const GangStore &gangs) : gangs_(gangs) {}

    // Sets the Node behind each Slurm node; hybrid: the nodes with a slurmd.
    void set_nodes(const NodeMap &nodes, const std::set<std::string> &hybrid);

    // Pods on this Node, or on all Nodes, may have changed.
    void touch(const std::string &node) { touched_.insert(node); }
    void touch_all();
    // The gang may have changed, and with it a binding that is under way.
    void touch_binding(const std::string &gang_uid);
    // A binding of this Pod is under way, which no watch shows yet.
    void record_binding(const Gang &gang, const std::string &pod,
                        const std::string &node);

    // Each new state of a Pod, and the end of its object: VanishedPods. Returns
    // true if its containers may still run.
    void note(const Pod &pod, Clock::time_point now)
    {
        vanished_.note(pod, now);
    }
    bool record_gone(const Pod &last, std::uint32_t cpus,
                     Clock::time_point now);
    // Forgets those whose time is over; returns their Nodes.
    std::set<std::string> drop_vanished(Clock::time_point now);
    std::vector<VanishedPod> vanished_on(const std::string &node) const
    {
        return vanished_.on(node);
    }
    std::size_t count_vanished() const { return vanished_.count(); }
    Clock::time_point next_vanished_end() const { return vanished_.next_end(); }

    // Returns Slurm's names of the dirty nodes.
    const std::set<std::string> &dirty();
    // Whether a Pod without a living job may run on this Node.
    bool is_dirty(const std::string &node) const;

    // Returns the jobs that count as allocated in a RoomAnswer.
    static std::set<JobId> allocated(const std::vector<JobStateHint> &states);

    enum class Room { yes, no, ask_slurm };
    // Whether Pods of the gang with these requests in total may be bound to
    // this Node, besides those that a watch has shown there. known: the Node in
    // Kubernetes, or null; foreign: requests of Pods of other schedulers there.
    // ask_slurm: the gang must wait() until admit() returns it.
    Room room_for(const Gang &gang, const Amounts &asks,
                  const std::string &node, const Node *known,
                  const Amounts &foreign = {}) const;

    // Registers a job that waits on a dirty node: with an empty uid an ordinary
    // job whose prolog is held, else the job of that gang.
    void wait(JobRef job, const std::string &uid = {}) { waiting_[job] = uid; }
    bool someone_waits() const { return !waiting_.empty(); }
    std::vector<JobRef> waiting() const;
    // The plugin disconnected; after its return it reports again which ordinary
    // jobs it holds.
    void forget_ordinary();

    struct Admitted {
        std::vector<JobRef> ordinary;   // release these with `start`
        std::vector<std::string> gangs; // uids; room_for() now says yes
    };
    // Returns the waiting jobs that may start now, oldest first. They wait no
    // longer; jobs that are gone are dropped.
    Admitted admit(const RoomAnswer &answer);

  private:
    struct Amount {
        std::int64_t cpus = 0;
        std::int64_t mib = 0;
    };
    using Free = std::map<std::string, Amount>; // by Slurm's name

    template <class Visit>
    void each_on(const std::string &node, Visit visit) const;
    bool covered(const GangEntry &entry, const Pod &pod) const;
    struct Uncovered {
        Amount amount;
        bool extended = false; // has extended resources
        bool devices = false;  // has these, or claims
    };
    // Sums the Pods that no allocated job of ours covers; a job that has ended
    // since counts as not allocated although its end has not been reported yet.
    Uncovered uncovered_on(const std::string &node,
                           const std::set<JobId> &allocated) const;
    bool still_waits(JobRef job, const Job &now) const;
    bool fits(const Job &job, const Free &free,
              const std::set<JobId> &allocated) const;
    static std::optional<Amount> share_of(const Job &job);
    static Free free_on(const std::vector<SlurmNode> &nodes);

    const GangStore &gangs_;
    VanishedPods vanished_;
    NodeMap nodes_;
    std::map<std::string, std::string> slurm_names_; // by Node
    std::set<std::string> hybrid_;                   // Nodes
    std::set<std::string> touched_;
    std::set<std::string> dirty_;
    // By Node: the uids of gangs, each with the uids of its Pods.
    using Binding = std::map<std::string, std::set<std::string>>;
    mutable std::map<std::string, Binding> binding_;
    // By gang uid: the Nodes where it is in binding_, or was until it was last
    // touched.
    mutable std::map<std::string, std::set<std::string>> binding_nodes_;
    std::map<JobRef, std::string> waiting_;
    std::map<std::string, JobRef> admitted_; // by gang uid
};

} // namespace bridge
