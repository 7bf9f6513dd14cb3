// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes are dirty, and which jobs may start there all the same. Slurm
// frees a node's resources the moment a job ends; containers take up to their
// grace period. A Pod that no living job covers makes its node dirty: then what
// Slurm has given away and what such Pods still use may be more than there is.
//
//  a job on a dirty node may start when, on each such node of its own,
//    requests of the uncovered Pods + what Slurm gave to others that have
//    started + what Slurm gave to the job  <=  what the node has
//
// A Pod on a node without a slurmd needs no such look: all that Slurm gave away
// there are Pods, so what kubelet adds up is the whole truth.
//
// Knows the owner thread's facts, and is used by it alone. No I/O.
#pragma once

#include "agent/gang/store.h"
#include "agent/objects/foreign_pods.h"
#include "agent/objects/node_map.h"
#include "common/slurm/api.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// What Slurm says of its nodes and then of the jobs: one that is still
// allocated at the end was so when the nodes were read.
struct RoomAnswer {
    std::vector<JobRef> asked;
    std::vector<SlurmNode> nodes;
    std::vector<Job> jobs;     // of those asked; the others are gone
    std::set<JobId> allocated; // of all jobs
};

class NodeGate {
  public:
    explicit NodeGate(const GangStore &gangs) : gangs_(gangs) {}

    // The Node behind each Slurm node; hybrid: those with a slurmd.
    void set_nodes(const NodeMap &nodes, const std::set<std::string> &hybrid);

    // Something may have changed about the Pods on that Node; about all.
    void touch(const std::string &node) { touched_.insert(node); }
    void touch_all();
    // Something may have changed about the gang, which binds Pods perhaps.
    void touch_binding(const std::string &gang_uid);
    // A binding of that Pod of the gang is under way, which no watch shows yet.
    void note_binding(const Gang &gang, const std::string &pod,
                      const std::string &node);

    // Slurm's names of the dirty nodes.
    const std::set<std::string> &dirty();
    // Whether a Pod that no living job covers may live on that Node.
    bool is_dirty(const std::string &node) const;

    // What counts as allocated in a RoomAnswer.
    static std::set<JobId> allocated(const std::vector<JobStateHint> &states);

    enum class Room { yes, no, ask_slurm };
    // Whether Pods of the gang that ask for so much in all may be bound to that
    // Node, of which known is what Kubernetes says; foreign: what Pods of other
    // schedulers have there. ask_slurm: it waits() until admit() says so.
    Room room_for(const Gang &gang, const Amounts &asks,
                  const std::string &node, const Node *known,
                  const Amounts &foreign = {}) const;

    // A job waits on a dirty node: an ordinary one, whose prolog is held, when
    // uid is empty; else that gang's.
    void wait(JobRef job, const std::string &uid = {}) { waiting_[job] = uid; }
    bool someone_waits() const { return !waiting_.empty(); }
    std::vector<JobRef> waiting() const;
    // The plugin is gone: it says again which ordinary jobs it holds.
    void forget_ordinary();

    struct Admitted {
        std::vector<JobRef> ordinary;   // say `start`
        std::vector<std::string> gangs; // uids: room_for() is yes
    };
    // Those that asked and may start now, oldest first. They wait no more, nor
    // do those that are gone.
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
    // By jobs of ours that are among those allocated: of one that has ended
    // since, the word may be on its way. Nothing when some of it uses devices,
    // of which nobody says which.
    std::optional<Amount> uncovered_on(const std::string &node,
                                       const std::set<JobId> &allocated) const;
    bool still_waits(JobRef job, const Job &now) const;
    bool fits(const Job &job, const Free &free,
              const std::set<JobId> &allocated) const;
    static std::optional<Amount> share_of(const Job &job);
    static Free free_on(const std::vector<SlurmNode> &nodes);

    const GangStore &gangs_;
    NodeMap nodes_;
    std::map<std::string, std::string> slurm_names_; // by Node
    std::set<std::string> hybrid_;                   // Nodes
    std::set<std::string> touched_;
    std::set<std::string> dirty_;
    // By Node: the uids of gangs, each with those of its Pods.
    using Binding = std::map<std::string, std::set<std::string>>;
    mutable std::map<std::string, Binding> binding_;
    // By a gang's uid: the Nodes where it is in binding_, or was until its last
    // touch.
    mutable std::map<std::string, std::set<std::string>> binding_nodes_;
    std::map<JobRef, std::string> waiting_;
    std::map<std::string, JobRef> admitted_; // uid
};

} // namespace bridge
