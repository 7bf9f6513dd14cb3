// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent says to slurmctld, one RPC each, over libslurm. Slurm is the
// seam at which tests put a fake in; both pass the same contract tests. Every
// call blocks, up to Slurm's MessageTimeout while slurmctld is away, and may be
// made from any number of threads at once. Knows nothing of Kubernetes.
//
// Codes, from every call: busy (slurmctld does not answer, or says to come
// back), uncertain (the connection broke after the request was sent),
// not_found (no job with this id and SLUID), denied, rejected (in Slurm's own
// words: it will not do this).
#pragma once

#include "common/base/result.h"
#include "common/slurm/batch_job.h"
#include "common/slurm/job.h"
#include "common/slurm/node_use.h"
#include "common/slurm/partition.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// A Slurm node without slurmd, which stands for one Kubernetes Node; or several
// that differ in nothing else: their names, separated by commas.
struct NodeDescription {
    std::string name;
    std::string address; // an IP literal: a name would be looked up by
                         // slurmctld under its locks at each allocation
    std::uint16_t port = 0;
    std::uint32_t cpus = 0;
    MebiBytes memory;
    std::string features; // comma separated
    std::string topology; // as topology.yaml names it, or empty
    // As Slurm has them, "gpu:a100:2"; with any, of one node only.
    std::string gres{};
    std::string gres_conf{};
    std::string extra{}; // for set_extra() once it is there

    bool operator==(const NodeDescription &) const = default;
};

struct SlurmNode {
    std::string name;
    std::string address;
    std::uint16_t port = 0;
    bool external = false; // made by State=External: there is no slurmd
    bool drained = false;  // has the DRAIN or the FAIL flag
    bool down = false;     // set DOWN: external nodes never are by themselves
    bool reserved = false; // in a reservation that has begun
    bool completing = false;
    // A signal to it was not answered: it gets no job until that heals.
    bool not_responding = false;
    std::uint32_t cpus = 0;
    MebiBytes memory;
    // Less what slurm.conf keeps for the system; and how much of it jobs have.
    std::uint32_t usable_cpus = 0;
    MebiBytes usable_memory;
    std::uint32_t allocated_cpus = 0;
    MebiBytes allocated_memory;
    std::string features; // comma separated, the available ones
    // Of these; none: all. A node_features plugin makes the difference.
    std::optional<std::string> active_features;
    std::string reason; // of the drain
    std::string topology;
    std::string extra;
    std::string gres;      // "gpu:a100:2,gpu:h100:1"
    std::string gres_used; // "gpu:a100:1(IDX:0),gpu:h100:0(IDX:N/A)"

    bool operator==(const SlurmNode &) const = default;
};

// All nodes, as of that moment by slurmctld's clock.
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

// What of the running slurmctld we need to know.
struct ClusterFacts {
    std::string name;
    std::uint16_t controller_port = 0;     // SlurmctldPort
    std::vector<std::string> gres_types{}; // GresTypes
};

class Slurm {
  public:
    virtual ~Slurm() = default;

    // Code::uncertain: a job may exist. Look for its tag before asking again.
    virtual Result<JobRef> submit(const JobDescription &job) = 0;

    // The same for a heterogeneous job of two components or more: all or none.
    // The leader's.
    virtual Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) = 0;

    // The job with its allocation. Code::not_found also for a JobId that now
    // belongs to another SLUID. Its tag is empty if somebody changed the
    // admin_comment. Of a heterogeneous job's leader all components, of another
    // component that one alone.
    virtual Result<Job> load(JobRef job) = 0;

    // The same, with what a batch job's Pod is made from.
    virtual Result<BatchJob> load_batch(JobRef job) = 0;

    // Whatever job has this id now, with an empty tag if it is not ours.
    virtual Result<JobDetails> load_details(JobId id) = 0;

    // How others ended a job that slurmctld has forgotten, by slurmdbd's word.
    // Code::not_found: it has none, there is none, or we cancelled it
    // ourselves.
    virtual Result<JobState> recall(JobRef job) = 0;

    // All jobs of ours that slurmctld still knows, ended ones too.
    virtual Result<std::vector<Job>> load_all() = 0;

    // The state of every job, whoever's it is; cheap.
    virtual Result<std::vector<JobStateHint>> load_states() = 0;

    // Ends the job with this status, as wait(2) gives it. Success also when it
    // had ended already. A heterogeneous job's leader stands for all
    // components, another component for itself; cancel() likewise.
    virtual Result<> complete(JobRef job, int status) = 0;

    // Ends the job, pending or not, as CANCELLED.
    virtual Result<> cancel(JobRef job) = 0;

    // Of a pending job; 0 would hold it, another releases it.
    virtual Result<> set_priority(JobRef job, std::uint32_t priority) = 0;

    // Lets a pending job start in whichever of these partitions, separated by
    // commas; whichever that is, its time limit is this one
    // (NodeUse::time_limit).
    virtual Result<> set_partitions(JobRef job, const std::string &names,
                                    std::uint32_t time_limit) = 0;

    // Says on the job why it ended, in words (its comment).
    virtual Result<> set_comment(JobRef job, const std::string &words) = 0;

    // Replaces what the admin_comment says. Code::rejected of one that has
    // ended.
    virtual Result<> set_tag(JobRef job, const GangTag &tag) = 0;

    // Code::rejected when users may not submit to one of these partitions
    // (RootOnly): we may, as SlurmUser, so nobody else would say so. names are
    // separated by commas. Asked of slurmctld every half minute at most.
    virtual Result<> check_partitions(const std::string &names) = 0;

    virtual Result<std::vector<Partition>> load_partitions() = 0;

    virtual Result<ClusterFacts> load_cluster() = 0;
    virtual Result<std::vector<SlurmNode>> load_nodes() = 0;
    // Nothing when no node has changed since that table was made.
    virtual Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) = 0;
    virtual Result<std::vector<Reservation>> load_reservations() = 0;

    // Unfinished jobs, whoever's, that wait, name nodes, or are shadows.
    virtual Result<std::vector<NodeUse>> load_uses() = 0;
    // A shadow placeholder of that size on a node that has its pin feature;
    // Code::uncertain: one may exist.
    virtual Result<JobRef> submit_shadow(const std::string &node,
                                         const NodeRoom &room) = 0;

    // What changes nodes takes one name, or several separated by commas.
    virtual Result<> create_node(const NodeDescription &node) = 0;
    // Code::rejected while a job or a reservation has it.
    virtual Result<> delete_node(const std::string &name) = 0;
    // Both comma separated; the active ones are some of them.
    virtual Result<> set_features(const std::string &node,
                                  const std::string &features,
                                  const std::string &active) = 0;
    virtual Result<> set_topology(const std::string &node,
                                  const std::string &topology) = 0;
    virtual Result<> set_extra(const std::string &node,
                               const std::string &extra) = 0;
    // Makes slurmctld put nodes into partitions anew by their features, which
    // it else does only when nodes come or go.
    virtual Result<> rebuild_partitions() = 0;
    virtual Result<> drain(const std::string &node,
                           const std::string &reason) = 0;
    virtual Result<> resume(const std::string &node) = 0;
};

class SlurmApi : public Slurm {
  public:
    // Reads slurm.conf; libslurm ends the process when there is none. Only one
    // may exist.
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
    Result<> set_priority(JobRef job, std::uint32_t priority) override;
    Result<> set_partitions(JobRef job, const std::string &names,
                            std::uint32_t time_limit) override;
    Result<> set_comment(JobRef job, const std::string &words) override;
    Result<> set_tag(JobRef job, const GangTag &tag) override;
    Result<> check_partitions(const std::string &names) override;
    Result<std::vector<Partition>> load_partitions() override;
    Result<ClusterFacts> load_cluster() override;
    Result<std::vector<SlurmNode>> load_nodes() override;
    Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) override;
    Result<std::vector<Reservation>> load_reservations() override;
    Result<std::vector<NodeUse>> load_uses() override;
    Result<JobRef> submit_shadow(const std::string &node,
                                 const NodeRoom &room) override;
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

  private:
    Result<bool> has_database();

    std::mutex mutex_; // of what slurmctld's configuration said, lately
    std::optional<bool> database_; // whether it accounts with slurmdbd
    std::chrono::steady_clock::time_point database_asked_;

    std::mutex root_only_mutex_; // likewise, of its partitions
    std::optional<std::set<std::string>> root_only_;
    std::chrono::steady_clock::time_point root_only_read_;
};

} // namespace bridge
