// SPDX-License-Identifier: GPL-2.0-or-later
// A Slurm whose calls are counted, and whose writes pass the write gate. Each
// new method of Slurm that writes needs a name in write_gate.h.
#pragma once

#include "agent/calls/call_counts.h"
#include "agent/calls/write_gate.h"
#include "common/slurm/api.h"

#include <utility>

namespace bridge {

class GuardedSlurm : public Slurm {
    template <class Call> auto read(const char *name, Call call)
    {
        return counts_.slurm(name, std::move(call));
    }
    template <class Call> auto write(Write kind, Call call)
    {
        return gate_.pass(
            kind, [&] { return counts_.slurm(write_name(kind), call); });
    }

  public:
    // All must outlive this.
    GuardedSlurm(Slurm &slurm, const WriteGate &gate, CallCounts &counts)
        : slurm_(slurm), gate_(gate), counts_(counts)
    {
    }

    Result<JobRef> submit(const JobDescription &job) override
    {
        return write(Write::submit, [&] { return slurm_.submit(job); });
    }
    Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) override
    {
        return write(Write::submit_het,
                     [&] { return slurm_.submit_het(components); });
    }
    Result<> complete(JobRef job, int status) override
    {
        return write(Write::complete,
                     [&] { return slurm_.complete(job, status); });
    }
    Result<> cancel(JobRef job) override
    {
        return write(Write::cancel, [&] { return slurm_.cancel(job); });
    }
    Result<> resume_job(JobRef job) override
    {
        return write(Write::resume_job, [&] { return slurm_.resume_job(job); });
    }
    Result<> set_priority(JobRef job, std::uint32_t priority) override
    {
        return write(Write::set_priority,
                     [&] { return slurm_.set_priority(job, priority); });
    }
    Result<> set_partitions(JobRef job, const std::string &names,
                            std::uint32_t time_limit) override
    {
        return write(Write::set_partitions, [&] {
            return slurm_.set_partitions(job, names, time_limit);
        });
    }
    Result<> set_comment(JobRef job, const std::string &words) override
    {
        return write(Write::set_comment,
                     [&] { return slurm_.set_comment(job, words); });
    }
    Result<> set_tag(JobRef job, const GangTag &tag) override
    {
        return write(Write::set_tag, [&] { return slurm_.set_tag(job, tag); });
    }
    Result<> create_node(const NodeDescription &node) override
    {
        return write(Write::create_node,
                     [&] { return slurm_.create_node(node); });
    }
    Result<> delete_node(const std::string &name) override
    {
        return write(Write::delete_node,
                     [&] { return slurm_.delete_node(name); });
    }
    Result<> set_features(const std::string &node, const std::string &features,
                          const std::string &active) override
    {
        return write(Write::set_features, [&] {
            return slurm_.set_features(node, features, active);
        });
    }
    Result<> set_topology(const std::string &node,
                          const std::string &topology) override
    {
        return write(Write::set_topology,
                     [&] { return slurm_.set_topology(node, topology); });
    }
    Result<> set_extra(const std::string &node,
                       const std::string &extra) override
    {
        return write(Write::set_extra,
                     [&] { return slurm_.set_extra(node, extra); });
    }
    Result<> rebuild_partitions() override
    {
        return write(Write::rebuild_partitions,
                     [&] { return slurm_.rebuild_partitions(); });
    }
    Result<> drain(const std::string &node, const std::string &reason) override
    {
        return write(Write::drain, [&] { return slurm_.drain(node, reason); });
    }
    Result<> set_down(const std::string &node,
                      const std::string &reason) override
    {
        return write(Write::set_down,
                     [&] { return slurm_.set_down(node, reason); });
    }
    Result<> reconfigure() override
    {
        return write(Write::reconfigure, [&] { return slurm_.reconfigure(); });
    }
    Result<> resume(const std::string &node) override
    {
        return write(Write::resume, [&] { return slurm_.resume(node); });
    }

    Result<Job> load(JobRef job) override
    {
        return read("load", [&] { return slurm_.load(job); });
    }
    Result<BatchJob> load_batch(JobRef job) override
    {
        return read("load_batch", [&] { return slurm_.load_batch(job); });
    }
    Result<JobDetails> load_details(JobId id) override
    {
        return read("load_details", [&] { return slurm_.load_details(id); });
    }
    Result<JobState> recall(JobRef job) override
    {
        return read("recall", [&] { return slurm_.recall(job); });
    }
    Result<std::vector<Job>> load_all() override
    {
        return read("load_all", [&] { return slurm_.load_all(); });
    }
    Result<std::vector<JobStateHint>> load_states() override
    {
        return read("load_states", [&] { return slurm_.load_states(); });
    }
    Result<> check_partitions(const std::string &names) override
    {
        return read("check_partitions",
                    [&] { return slurm_.check_partitions(names); });
    }
    Result<ClusterFacts> load_cluster() override
    {
        return read("load_cluster", [&] { return slurm_.load_cluster(); });
    }
    Result<std::vector<SlurmNode>> load_nodes() override
    {
        return read("load_nodes", [&] { return slurm_.load_nodes(); });
    }
    Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) override
    {
        return read("load_nodes_since",
                    [&] { return slurm_.load_nodes_since(as_of); });
    }
    Result<std::vector<Partition>> load_partitions() override
    {
        return read("load_partitions",
                    [&] { return slurm_.load_partitions(); });
    }
    Result<GraceTimes> load_grace_times() override
    {
        return read("load_grace_times",
                    [&] { return slurm_.load_grace_times(); });
    }
    Result<std::vector<NodeHolder>> load_holders() override
    {
        return read("load_holders", [&] { return slurm_.load_holders(); });
    }
    Result<std::vector<NodeUse>> load_uses() override
    {
        return read("load_uses", [&] { return slurm_.load_uses(); });
    }
    Result<JobRef> submit_shadow(const std::string &node, const NodeRoom &room,
                                 ShadowTier tier) override
    {
        return write(Write::submit_shadow,
                     [&] { return slurm_.submit_shadow(node, room, tier); });
    }
    Result<std::vector<Reservation>> load_reservations() override
    {
        return read("load_reservations",
                    [&] { return slurm_.load_reservations(); });
    }

  private:
    Slurm &slurm_;
    const WriteGate &gate_;
    CallCounts &counts_;
};

} // namespace bridge
