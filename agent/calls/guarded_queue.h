// SPDX-License-Identifier: GPL-2.0-or-later
// A SlurmQueue whose calls are counted, and whose writes pass the write gate.
#pragma once

#include "agent/calls/call_counts.h"
#include "agent/calls/write_gate.h"
#include "common/slurm/queue.h"

namespace bridge {

class GuardedQueue : public SlurmQueue {
  public:
    // All must outlive this.
    GuardedQueue(SlurmQueue &slurm, const WriteGate &gate, CallCounts &counts)
        : slurm_(slurm), gate_(gate), counts_(counts)
    {
    }

    Result<std::optional<JobQueue>>
    load_queue_since(std::int64_t as_of) override
    {
        return counts_.slurm("load_queue_since",
                             [&] { return slurm_.load_queue_since(as_of); });
    }
    Result<IdleTimes> load_idle_times() override
    {
        return counts_.slurm("load_idle_times",
                             [&] { return slurm_.load_idle_times(); });
    }
    Result<> create_future_nodes(const FutureNodes &nodes) override
    {
        return gate_.pass(Write::create_node, [&] {
            return counts_.slurm("create_future_nodes", [&] {
                return slurm_.create_future_nodes(nodes);
            });
        });
    }

  private:
    SlurmQueue &slurm_;
    const WriteGate &gate_;
    CallCounts &counts_;
};

} // namespace bridge
