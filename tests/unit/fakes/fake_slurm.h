// SPDX-License-Identifier: GPL-2.0-or-later
// A slurmctld in memory with prep/k8s in it, for tests of whole flows. It obeys
// what was seen of Slurm 26.05 (and what slurm_contract.h holds both to):
// nothing is allocated inside a submit, prolog and epilog hooks are held until
// somebody lets them go, an epilog is called only for what had an allocation,
// resources are free the moment a job ends, completing a job again overwrites
// its exit code. It records every call and fails where a test wants it to. Used
// by one thread.
#pragma once

#include "common/contract/hook_message.h"
#include "common/slurm/api.h"
#include "tests/unit/fakes/call_faults.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class FakeSlurm : public Slurm, public CallFaults {
  public:
    static constexpr std::uint16_t controller_port = 6817;
    std::uint64_t started = 0; // slurmctld, in seconds since 1970

    struct Record {
        Job job;
        JobDescription asked;
        std::optional<int> status; // of its completion
        int completions = 0;       // more than one overwrites the status
        bool prolog_held = false;
        bool epilog_held = false;
        std::string comment;
        std::optional<ArrayTask> array{};
        JobId leader = 0; // of its heterogeneous job
        std::uint32_t offset = 0;
    };

    // Where the hooks' packets go; empty: the socket is cut.
    std::function<void(HookMessage)> hooks;
    std::string root_only; // a partition that users may not submit to
    std::vector<std::string> gres_types; // GresTypes
    bool drop_gres = false;              // it takes none, whatever they are
    std::vector<Reservation> reservations;
    std::vector<Partition> partitions;
    GraceTimes grace_times;
    // Jobs of others that wait: where they do, none of a lower tier starts.
    std::vector<NodeUse> others;

    // --- what slurmctld and its users do

    // One run of the scheduler: what fits starts, oldest first.
    void schedule();
    // Heterogeneous jobs, which nothing else starts: all components or none.
    void backfill();
    void hold(JobId id);
    // The priority that it was asked for with is forgotten.
    void release(JobId id);
    void scancel(JobId id);
    // Slurm itself ends it: TIMEOUT, PREEMPTED, NODE_FAIL, …
    void end_job(JobId id, JobState state) { end(jobs_.at(id), state); }
    // By its owner, with scontrol.
    void suspend(JobId id) { jobs_.at(id).job.state = JobState::suspended; }
    void set_reason(JobId id, const std::string &reason);
    // Seconds since the epoch; 0: backfill knows nothing.
    void set_expected_start(JobId id, std::int64_t when);
    std::int64_t expected_start(JobId id) const;
    // MinJobAge is over, or a crash lost it.
    void purge(JobId id) { jobs_.erase(id); }
    // The accounting database knows how it ended.
    void account(JobRef ref, JobState state) { accounted_[ref] = state; }
    void set_down(const std::string &node);
    // As when a crash took slurmctld back to an older state.
    void resurrect(JobId id) { jobs_.at(id).job.state = JobState::running; }
    // The same, before the job was allocated: without a hook.
    void unallocate(JobId id);
    // And before the agent had written a batch job's Pod on it.
    void forget_allocation(JobId id);
    // As backfill does with a component when it cannot start another.
    void take_back(JobId id);
    // And allocated again.
    void reallocate(JobId id, const std::string &node);
    void reallocate(JobId id, const std::vector<std::string> &nodes);
    // A job as somebody else, or an earlier life of the agent, left it.
    JobRef plant(const JobDescription &description);
    // As slurmctld splits it from its array.
    JobRef plant(const JobDescription &description, ArrayTask task);
    void add_node(const std::string &name, std::uint32_t cpus = 16,
                  std::uint64_t mib = 64000);

    // One with a slurmd.
    void add_real_node(const std::string &name, std::uint32_t cpus = 16,
                       std::uint64_t mib = 64000);
    // One that jobs of ours reach, whatever anybody does, and no Pod can.
    void add_misfit(const std::string &name);
    // Not ours, as sbatch makes it.
    JobRef sbatch(std::uint32_t cpus, std::uint64_t mib = 1);
    void hold_for_preference(JobId id);
    // As the scheduler does when no node has the features of the job.
    void hold_for_constraints(JobId id);
    // As sbatch --nodelist.
    void name_node(JobRef job, const std::string &node) { named_[job] = node; }
    void give_devices(JobId id) { jobs_.at(id).job.devices = true; }
    void set_drained(const std::string &node, const std::string &reason);
    void resume_by_hand(const std::string &node);
    const SlurmNode &node(const std::string &name) const;
    // A crash took slurmctld back to a state before the node had them.
    void lose_gres(const std::string &node, const std::string &left = {});
    void remove_node(const std::string &name) { nodes_.erase(name); }
    // Somebody makes it right after that load.
    void hide_from_next_load(const std::string &name) { hidden_ = name; }
    void set_gres_used(const std::string &node, const std::string &used);
    void set_topology_text(const std::string &node, const std::string &text);

    // --- what prep/k8s does with the agent's messages

    void receive(const HookMessage &message);
    // The plugin connects: hello, and all that is held once more.
    void connect(std::function<void(HookMessage)> sink);

    // --- what a test wants to know, beside call_faults.h

    const std::map<JobId, Record> &jobs() const { return jobs_; }
    const Record &job(JobId id) const { return jobs_.at(id); }
    std::vector<Record> living() const;
    std::optional<NodeDescription> created(const std::string &name) const;
    int kicks = 0;
    bool says_cpus = false; // as slurmctld does for jobs of one node
    int starts = 0;
    std::chrono::sys_seconds ends{}; // of batch jobs, by their time limits
    int cleans = 0;
    std::vector<HookMessage> bridge_said;
    std::vector<HookMessage> synced_said;
    // The nodes that the last `synced` named; "never" before any.
    std::string dirty() const;

    // --- Slurm

    Result<JobRef> submit(const JobDescription &job) override;
    // As slurmctld: what it had made of the components before it refuses one is
    // cancelled, and stays in its table.
    Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) override;
    Result<Job> load(JobRef ref) override;
    Result<BatchJob> load_batch(JobRef ref) override;
    Result<> set_tag(JobRef ref, const GangTag &tag) override;
    Result<JobDetails> load_details(JobId id) override;
    Result<JobState> recall(JobRef ref) override;
    Result<std::vector<Job>> load_all() override;
    Result<std::vector<JobStateHint>> load_states() override;
    Result<> complete(JobRef ref, int status) override;
    Result<> cancel(JobRef ref) override;
    Result<> resume_job(JobRef ref) override;
    Result<> set_priority(JobRef ref, std::uint32_t priority) override;
    Result<> set_partitions(JobRef ref, const std::string &names,
                            std::uint32_t time_limit) override;
    Result<> set_comment(JobRef ref, const std::string &words) override;
    Result<> check_partitions(const std::string &names) override;
    Result<std::vector<Partition>> load_partitions() override;
    Result<GraceTimes> load_grace_times() override;
    Result<ClusterFacts> load_cluster() override;
    Result<std::vector<SlurmNode>> load_nodes() override;
    // Like slurmctld, of which each load has a second of its own here.
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
    Result<> rebuild_partitions() override
    {
        return enter("rebuild_partitions");
    }
    Result<> drain(const std::string &node, const std::string &reason) override;
    Result<> resume(const std::string &node) override;
    Result<> set_down(const std::string &node,
                      const std::string &reason) override;
    Result<> reconfigure() override;

  private:
    // --- jobs: fake_slurm.cc

    JobRef add(const JobDescription &description);
    Record *record_of(JobRef ref);
    // Of a leader; any other job alone.
    std::vector<JobId> components_of(JobId id) const;
    static bool is_ours(const Record &record);
    NodeUse use_of(const Record &record) const; // fake_slurm_loads.cc
    void end(Record &record, JobState state);
    Result<> finish(JobRef ref, int status, const std::string &doing);
    void finish_one(Record &record, int status);

    // --- nodes: fake_slurm_nodes.cc

    Result<> update(const std::string &what, const std::string &names,
                    const std::function<void(SlurmNode &)> &edit);
    // As a job asks for them: "a&b".
    static bool has_features(const SlurmNode &node, const std::string &all);
    bool features_exist(const std::string &all) const;
    static std::uint64_t memory_of(const JobDescription &job);
    bool memory_fits(const JobDescription &job) const;
    static std::vector<std::string> split(const std::string &list,
                                          char separator = ',');

    // --- fake_slurm_scheduler.cc

    void try_start(Record &record);
    // Somebody waits there in a partition of a higher tier.
    bool is_behind(const Record &record, const std::string &node) const;
    // Fills one node after the other, as Slurm does where nodes are alike. Does
    // nothing for a job that fits on one, or must.
    bool start_on_several(Record &record);
    void allocated(Record &record);
    bool has_sibling_on(const Record &record, const std::string &node) const;
    // The indexes of a node that so many tasks get; nothing: it has not as
    // many. The types follow each other, as in the node's Gres=.
    std::optional<std::vector<JobGres>> free_gres(const std::string &name,
                                                  const std::string &wishes,
                                                  std::uint32_t tasks) const;
    // The first ones that no job there has.
    std::vector<std::uint32_t> free_cpus(const std::string &name,
                                         std::uint32_t count) const;
    // CPUs and MiB.
    std::pair<std::uint32_t, std::uint64_t>
    used_of(const std::string &node) const;
    static std::pair<std::uint32_t, std::uint64_t>
    share_on(const Record &record, const std::string &node);

    // --- prep/k8s (gate.h): fake_slurm_hooks.cc

    bool is_dirty(const std::string &node) const;
    bool may_open_by_itself(const Record &record) const;
    static void open_prolog(Record &record);
    void open_ordinary();
    void tell(const Record &record, HookMessage::Type type);

    std::map<JobId, Record> jobs_;
    std::map<JobRef, JobState> accounted_;
    std::set<JobId> held_;
    std::set<std::string> stubborn_;
    std::map<std::string, SlurmNode> nodes_;
    std::map<std::string, NodeDescription> created_;
    std::vector<SlurmNode> last_nodes_; // of the last load
    std::string hidden_;
    std::map<JobRef, std::string> named_;
    std::map<JobRef, std::pair<std::string, NodeRoom>> shadows_;
    JobId next_id_ = 1;
    std::uint64_t next_sluid_ = 1000;
};

} // namespace bridge
