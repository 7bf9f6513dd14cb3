// SPDX-License-Identifier: GPL-2.0-or-later
// The workers of the namespaces in WorkerNamespace, and the Slurm nodes that
// they serve. Each turn reads the nodes, and does for each worker what
// plan_worker() says. Used by one thread; calls to slurmctld block, and writes
// on Pods do not. Remembers nothing
// that a restart would miss: a Pod's conditions and Slurm's own reasons are all
// that it knows of earlier.
#pragma once

#include "agent/workers/decide.h"
#include "agent/workers/worker_pod.h"
#include "agent/workers/worker_writes.h"
#include "common/base/mailbox.h"
#include "common/slurm/api.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// How often a record that could not be removed is looked at again.
inline constexpr std::chrono::seconds worker_records_interval{5};
// How often slurmctld is asked again for a topology or features that it has
// refused.
inline constexpr std::chrono::seconds worker_refused_interval{60};
// How often states of nodes are asked for: Slurm announces no change of them.
inline constexpr std::chrono::seconds worker_interval{1};
// How often the jobs of all nodes are, for deadlines, while nodes change.
inline constexpr std::chrono::seconds worker_jobs_interval{5};

class WorkerKeeper {
  public:
    // Of the workers it serves those of this Controller, or all if that is
    // empty; but none of a namespace that has workers of several then, since it
    // cannot know which of them are of another slurmctld's agent.
    WorkerKeeper(Slurm &slurm, WorkerWriter &writer,
                 std::string controller = {})
        : slurm_(slurm), writes_(writer), controller_(std::move(controller))
    {
    }

    // All workers of this namespace, and the uids of its other Pods. Those that
    // were known and are not among both are gone. From then on the records are
    // removed that earlier Pods of this namespace have left for good.
    void list(const std::string &ns, std::vector<WorkerPod> pods,
              const std::set<std::string> &others);
    void change(WorkerPod pod);
    void remove(const WorkerPod &pod);
    // A Pod that exists and is no worker, or no more: as when its NodeSet was
    // deleted without its Pods. Nothing follows for its node.
    void disown(const ObjectKey &key);

    // A write that was begun for this Pod is over.
    void written(const ObjectKey &key, const std::string &uid,
                 const Result<> &done, Clock::time_point now);

    // Does what is due. Returns an error if slurmctld does not answer, or
    // refuses something; the next turn tries it again.
    Result<> turn(Clock::time_point now);

    // Why a worker cannot be told, or "": it is tried again with pauses.
    std::string failure() const { return writes_.failure(); }

    // The Slurm nodes of the Pods that somebody may evict: those without the
    // label, and those whose label goes.
    std::set<std::string> unprotected() const;

    std::size_t count() const { return pods_.size(); }
    bool is_listed() const { return !listed_.empty(); }
    bool is_listed(const std::string &ns) const { return listed_.contains(ns); }
    // Whether nobody knows which workers of this namespace are ours.
    bool is_contested(const std::string &ns) const
    {
        return contested_.contains(ns);
    }

    // For SetKeeper: reads the nodes, if any has changed; the nodes as they
    // were read last; the one of this name, or null; and the workers.
    Result<> look() { return read_nodes(false); }
    const std::vector<SlurmNode> &nodes() const { return table_.nodes; }
    const SlurmNode *record(const std::string &node) const;
    const std::map<ObjectKey, WorkerPod> &pods() const { return pods_; }

  private:
    Result<> read_nodes(bool afresh);
    Result<> read_jobs(Clock::time_point now);
    Result<> read_afresh(Clock::time_point now);
    bool jobs_needed(Clock::time_point now) const;
    WorkerPod take_out(const ObjectKey &key); // of a known Pod
    const SlurmNode *record_of(const WorkerPod &pod) const;
    WorkerFacts facts_of(const WorkerPod &pod) const;
    bool is_of_others(const WorkerPod &pod) const;
    Result<> find_contested();
    Result<> set_gone_nodes_down();
    std::vector<const SlurmNode *> left_records() const;
    Result<> remove_records(Clock::time_point now);
    Result<> remove_record(const SlurmNode &record,
                           const std::set<std::string> &named);
    void keep_label(const WorkerPod &pod, WorkerPlan &plan,
                    Clock::time_point now);
    Result<> serve(const WorkerPod &pod, Clock::time_point now);
    Result<> take_step(const WorkerPod &pod, const WorkerPlan &plan);
    Result<> place(const WorkerPod &pod, const WorkerPlan &plan,
                   Clock::time_point now);
    Result<> serve_due(Clock::time_point now);

    Slurm &slurm_;
    WorkerWrites writes_;
    const std::string controller_;
    std::map<ObjectKey, WorkerPod> pods_;
    std::vector<WorkerPod> gone_;  // whose nodes are to be set DOWN
    std::set<std::string> listed_; // namespaces
    // Pods of these namespaces that other agents serve.
    std::set<ObjectKey> foreign_;
    // There may be records to remove, not before that time.
    bool records_left_ = false;
    Clock::time_point records_due_{};
    NodeTable table_;
    std::map<std::string, std::size_t> index_; // of a node in the table
    // Jobs by node; nothing: never read. Old: nodes have changed since.
    std::optional<std::map<std::string, NodeJobs>> jobs_;
    bool jobs_old_ = false;
    Clock::time_point jobs_due_{};
    Clock::time_point jobs_read_{};
    bool fresh_ = false;      // read_afresh() has been called in this turn
    std::set<ObjectKey> due_; // Pods for which something may follow
    // Namespaces with workers of several Controllers, one of which may be ours.
    std::set<std::string> contested_;
    // Since when their label is to go, by the Pod's uid: a job may start there
    // before slurmctld's plugin knows that.
    std::map<std::string, Clock::time_point> unprotecting_;
    // What slurmctld has refused to give a node, by its Pod's uid, and when it
    // is asked again.
    struct Refused {
        std::optional<std::string> topology;
        std::optional<std::string> features;
        Clock::time_point until{};
    };
    std::map<std::string, Refused> refused_;
    // The answers that are True, by the Pod's uid.
    std::map<std::string, DrainAnswer> confirmed_;
    // As in WorkerFacts, of the last read_afresh().
    std::uint64_t slurmctld_ = 0;
    std::uint64_t read_ = 0;
};

} // namespace bridge
