// SPDX-License-Identifier: GPL-2.0-or-later
// The agent's calls to slurmctld through libslurm, one RPC each unless said
// otherwise. Tests replace Slurm by a fake; both pass the same contract tests.
// Every call blocks, for up to Slurm's MessageTimeout if slurmctld is away, and
// may be made by any number of threads at once. Knows nothing of Kubernetes.
//
// Every call can fail with these Codes: busy (slurmctld does not answer, or
// asks to try again), uncertain (the connection broke after the request was
// sent), not_found (there is no job with this id and SLUID), denied, rejected
// (slurmctld refuses, with Slurm's own message).
#pragma once

#include "common/base/result.h"
#include "common/slurm/batch_job.h"
#include "common/slurm/job.h"
#include "common/slurm/node_use.h"
#include "common/slurm/partition.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A Slurm node without slurmd that stands for one Kubernetes Node. Also several
// nodes that differ in nothing but their names: these are separated by commas.
struct NodeDescription {
    std::string name;
    std::string address; // an IP literal: slurmctld would resolve a name under
                         // its locks at each allocation
    std::uint16_t port = 0;
    std::uint32_t cpus = 0;
    MebiBytes memory;
    std::string features; // separated by commas
    std::string topology; // as topology.yaml names it, or empty
    // As Slurm has it, "gpu:a100:2". Not for several nodes at once.
    std::string gres{};
    std::string gres_conf{};
    std::string extra{}; // for set_extra() once the node exists

    bool operator==(const NodeDescription &) const = default;
};

struct SlurmNode {
    std::string name;
    std::uint32_t state = 0; // with flags: node_state.h
    std::string address;
    std::uint16_t port = 0;
    bool external = false; // created with State=External: there is no slurmd
    bool drained = false;  // has the DRAIN or the FAIL flag
    bool down = false;     // set DOWN: external nodes never become DOWN by
                           // themselves
    bool reserved = false; // in a reservation that has begun
    bool completing = false;
    // The node did not answer a signal: it gets no job until that is resolved.
    bool not_responding = false;
    std::uint32_t cpus = 0;
    MebiBytes memory;
    // Without what slurm.conf reserves for the system; and how much of it is
    // allocated to jobs.
    std::uint32_t usable_cpus = 0;
    MebiBytes usable_memory;
    std::uint32_t allocated_cpus = 0;
    MebiBytes allocated_memory;
    std::string features; // the available ones, separated by commas
    // The active ones of these; nothing: all. Only a node_features plugin makes
    // a difference.
    std::optional<std::string> active_features;
    std::string reason; // reason of the drain
    std::string topology;
    std::string extra;
    std::string gres;      // "gpu:a100:2,gpu:h100:1"
    std::string gres_used; // "gpu:a100:1(IDX:0),gpu:h100:0(IDX:N/A)"

    bool operator==(const SlurmNode &) const = default;
};

// All nodes at one moment, by slurmctld's clock.
struct NodeTable {
    std::int64_t as_of = 0; // seconds since the epoch; 0: never
    std::vector<SlurmNode> nodes;
};

struct Reservation {
    std::string name;
    std::vector<std::string> nodes;
    bool maintenance = false; // has the MAINT flag
    std::chrono::sys_seconds start{};
    std::chrono::sys_seconds end{};

    bool operator==(const Reservation &) const = default;
};

// How long a job that Slurm ends has to stop, as slurm.conf says.
struct GraceTimes {
    std::chrono::seconds kill_wait{30}; // KillWait
    // GraceTime of the partitions that have one, for preempted jobs.
    std::map<std::string, std::chrono::seconds> preempted{};

    bool operator==(const GraceTimes &) const = default;
};

// What the agent needs to know about the running slurmctld.
struct ClusterFacts {
    std::string name;
    std::uint16_t controller_port = 0;     // SlurmctldPort
    std::vector<std::string> gres_types{}; // GresTypes
    std::uint64_t started = 0; // of slurmctld, in seconds since 1970
};

class Slurm {
  public:
    virtual ~Slurm() = default;

    // Code::uncertain: a job may exist. Look for its tag before trying again.
    virtual Result<JobRef> submit(const JobDescription &job) = 0;

    // Submits a heterogeneous job of at least two components: all or none.
    // Returns the leader.
    virtual Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) = 0;

    // Returns the job with its allocation. Code::not_found also if the JobId
    // now belongs to a job with another SLUID. The tag is empty if somebody has
    // changed the admin_comment. For the leader of a heterogeneous job all
    // components are returned, for another component only this one.
    virtual Result<Job> load(JobRef job) = 0;

    // Like load(), plus what is needed to make the Pods of a batch job.
    virtual Result<BatchJob> load_batch(JobRef job) = 0;

    // Returns whatever job has this id now; the tag is empty if it is not ours.
    virtual Result<JobDetails> load_details(JobId id) = 0;

    // Returns the end state of a job that slurmctld has forgotten, from
    // slurmdbd. Code::not_found if there is no slurmdbd, if slurmdbd does not
    // know the job, or if we have cancelled the job ourselves.
    virtual Result<JobState> recall(JobRef job) = 0;

    // Returns all jobs of ours that slurmctld still knows, including ended
    // ones.
    virtual Result<std::vector<Job>> load_all() = 0;

    // Returns the state of every job of every user. This call is cheap.
    virtual Result<std::vector<JobStateHint>> load_states() = 0;

    // Ends the job with this status (as in wait(2)). Succeeds if the job has
    // ended already. The leader of a heterogeneous job stands for all
    // components, another component for itself; the same holds for cancel().
    virtual Result<> complete(JobRef job, int status) = 0;

    // Ends a pending or allocated job as CANCELLED.
    virtual Result<> cancel(JobRef job) = 0;

    // Resumes a suspended job. Succeeds if the job is not suspended.
    // Code::rejected if it has ended, this or Code::not_found if there is none.
    // A component of a heterogeneous job stands for itself.
    virtual Result<> resume_job(JobRef job) = 0;

    // Sets the priority of a pending job. 0 holds the job. A held job takes
    // computed_priority only, which releases it; otherwise Code::rejected.
    virtual Result<> set_priority(JobRef job, std::uint32_t priority) = 0;

    // Lets a pending job start in any of these partitions, separated by commas.
    // Its time limit is then the given one, whichever partition it starts in
    // (NodeUse::time_limit).
    virtual Result<> set_partitions(JobRef job, const std::string &names,
                                    std::uint32_t time_limit) = 0;

    // Sets the job's comment to the reason for its end.
    virtual Result<> set_comment(JobRef job, const std::string &words) = 0;

    // Replaces the tag in the admin_comment. Code::rejected if the job has
    // ended.
    virtual Result<> set_tag(JobRef job, const GangTag &tag) = 0;

    // Code::rejected if users may not submit to one of these partitions
    // (RootOnly). The agent may, as SlurmUser, so slurmctld would not refuse
    // it. names are separated by commas. slurmctld is asked at most every 30
    // seconds.
    virtual Result<> check_partitions(const std::string &names) = 0;

    virtual Result<std::vector<Partition>> load_partitions() = 0;
    virtual Result<GraceTimes> load_grace_times() = 0;

    virtual Result<ClusterFacts> load_cluster() = 0;
    virtual Result<std::vector<SlurmNode>> load_nodes() = 0;
    // Returns nothing if no node has changed since that table was made.
    virtual Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) = 0;
    virtual Result<std::vector<Reservation>> load_reservations() = 0;

    // Returns the unfinished jobs of all users that are pending, name nodes, or
    // are shadow jobs, and those that have ended and name nodes.
    virtual Result<std::vector<NodeUse>> load_uses() = 0;
    // Returns the jobs of all users that have nodes, also those that are
    // suspended, or that have ended and whose nodes are not free again yet.
    virtual Result<std::vector<NodeHolder>> load_holders() = 0;
    // Submits a shadow job of this size for a node that has its pin feature, to
    // the partitions of that tier. Code::uncertain: one may exist.
    virtual Result<JobRef> submit_shadow(const std::string &node,
                                         const NodeRoom &room,
                                         ShadowTier tier) = 0;

    // The calls that change nodes take one name, or several separated by
    // commas.
    virtual Result<> create_node(const NodeDescription &node) = 0;
    // Code::rejected while a job or a reservation uses the node.
    virtual Result<> delete_node(const std::string &name) = 0;
    // Both lists are separated by commas; active must be a subset of features.
    virtual Result<> set_features(const std::string &node,
                                  const std::string &features,
                                  const std::string &active) = 0;
    virtual Result<> set_topology(const std::string &node,
                                  const std::string &topology) = 0;
    virtual Result<> set_extra(const std::string &node,
                               const std::string &extra) = 0;
    // Makes slurmctld assign the nodes to partitions again by their features,
    // which it otherwise does only when nodes are created or deleted.
    virtual Result<> rebuild_partitions() = 0;
    virtual Result<> drain(const std::string &node,
                           const std::string &reason) = 0;
    virtual Result<> resume(const std::string &node) = 0;
    // Makes the node DOWN: its jobs end at once, and are requeued if they may
    // be.
    virtual Result<> set_down(const std::string &node,
                              const std::string &reason) = 0;

    // Makes slurmctld read its configuration anew, as "scontrol reconfigure".
    // Success means that it has begun: it executes itself, and answers again
    // some seconds later with another ClusterFacts::started.
    virtual Result<> reconfigure() = 0;
};

class SlurmApi : public Slurm {
  public:
    // Reads slurm.conf; libslurm ends the process if there is none. Only one
    // SlurmApi may exist.
    SlurmApi();
    ~SlurmApi() override;

    Result<JobRef> submit(const JobDescription &job) override;
    Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) override;
    Result<Job> load(JobRef job) override;
    Result<BatchJob> load_batch(JobRef job) override;
    Result<JobDetails> load_details(JobId id) override;
    Result<JobState> recall(JobRef job) override;
    Result<std::vector<Job>> load_all() override;
    Result<std::vector<JobStateHint>> load_states() override;
    Result<> complete(JobRef job, int status) override;
    Result<> cancel(JobRef job) override;
    Result<> resume_job(JobRef job) override;
    Result<> set_priority(JobRef job, std::uint32_t priority) override;
    Result<> set_partitions(JobRef job, const std::string &names,
                            std::uint32_t time_limit) override;
    Result<> set_comment(JobRef job, const std::string &words) override;
    Result<> set_tag(JobRef job, const GangTag &tag) override;
    Result<> check_partitions(const std::string &names) override;
    Result<std::vector<Partition>> load_partitions() override;
    Result<GraceTimes> load_grace_times() override;
    Result<ClusterFacts> load_cluster() override;
    Result<std::vector<SlurmNode>> load_nodes() override;
    Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) override;
    Result<std::vector<Reservation>> load_reservations() override;
    Result<std::vector<NodeUse>> load_uses() override;
    Result<std::vector<NodeHolder>> load_holders() override;
    Result<JobRef> submit_shadow(const std::string &node, const NodeRoom &room,
                                 ShadowTier tier) override;
    Result<> create_node(const NodeDescription &node) override;
    Result<> delete_node(const std::string &name) override;
    Result<> set_features(const std::string &node, const std::string &features,
                          const std::string &active) override;
    Result<> set_topology(const std::string &node,
                          const std::string &topology) override;
    Result<> set_extra(const std::string &node,
                       const std::string &extra) override;
    Result<> rebuild_partitions() override;
    Result<> drain(const std::string &node, const std::string &reason) override;
    Result<> resume(const std::string &node) override;
    Result<> set_down(const std::string &node,
                      const std::string &reason) override;
    Result<> reconfigure() override;

  private:
    Result<bool> has_database();

    std::mutex mutex_;             // guards the cached configuration
    std::optional<bool> database_; // whether slurmctld uses slurmdbd
    std::chrono::steady_clock::time_point database_asked_;

    std::mutex root_only_mutex_; // guards the cached partitions
    std::optional<std::set<std::string>> root_only_;
    std::chrono::steady_clock::time_point root_only_read_;
};

} // namespace bridge
