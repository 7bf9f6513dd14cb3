// SPDX-License-Identifier: GPL-2.0-or-later
// A SlurmQueue whose writes pass the write gate; reads are forwarded directly.
#pragma once

#include "agent/calls/write_gate.h"
#include "common/slurm/queue.h"

namespace bridge {

class GuardedQueue : public SlurmQueue {
  public:
    GuardedQueue(SlurmQueue &slurm, const WriteGate &gate)
        : slurm_(slurm), gate_(gate)
    {
    }

    Result<std::optional<JobQueue>>
    load_queue_since(std::int64_t as_of) override
    {
        return slurm_.load_queue_since(as_of);
    }
    Result<IdleTimes> load_idle_times() override
    {
        return slurm_.load_idle_times();
    }
    Result<> create_future_nodes(const FutureNodes &nodes) override
    {
        return gate_.pass(Write::create_node,
                          [&] { return slurm_.create_future_nodes(nodes); });
    }

  private:
    SlurmQueue &slurm_;
    const WriteGate &gate_;
};

} // namespace bridge
