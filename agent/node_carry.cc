// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/node_carry.h"

#include "agent/node_batches.h"

#include <algorithm>

namespace bridge {

namespace {

struct Carry {
    Slurm &slurm;

    Result<> operator()(const CreateNode &s) { return slurm.create_node(s.node); }
    Result<> operator()(const SetExtra &s)
    {
        return slurm.set_extra(s.node, s.extra);
    }
    Result<> operator()(const SetFeatures &s)
    {
        return slurm.set_features(s.node, s.features, s.active);
    }
    Result<> operator()(const SetTopology &s)
    {
        return slurm.set_topology(s.node, s.topology);
    }
    Result<> operator()(const DrainNode &s)
    {
        return slurm.drain(s.node, s.reason);
    }
    Result<> operator()(const ResumeNode &s) { return slurm.resume(s.node); }
};

class Carrier {
  public:
    explicit Carrier(Slurm &slurm) : slurm_(slurm) {}

    void carry(const NodeBatch &batch)
    {
        if (std::holds_alternative<SetExtra>(batch.step) && has_failed(batch))
            return; // it says what a node is that was not made so
        auto done = std::visit(Carry{slurm_}, batch.step);
        if (done)
            return;
        if (batch.nodes.size() == 1)
            return fail_one(batch.nodes.front(), done.error());
        // One of them is in the way of the others: which one?
        for (const std::string &node : batch.nodes)
            carry_alone(step_for(batch.step, node), node);
    }

    CarryOutcome outcome;

  private:
    bool has_failed(const NodeBatch &batch) const
    {
        return std::ranges::any_of(batch.nodes, [&](const std::string &node) {
            return outcome.failed.contains(node);
        });
    }

    // slurmctld makes those before the first that fails, and then forgets to
    // look at their features.
    void carry_alone(const NodeStep &step, const std::string &node)
    {
        auto done = std::visit(Carry{slurm_}, step);
        if (done)
            return;
        if (const auto *create = std::get_if<CreateNode>(&step)) {
            outcome.rebuild_due = true;
            if (slurm_.set_features(node, create->node.features,
                                    create->node.features))
                return; // it is there
        }
        fail_one(node, done.error());
    }

    void fail_one(const std::string &node, const Error &error)
    {
        outcome.failed.insert(node);
        outcome.complaints.push_back(error.message);
    }

    Slurm &slurm_;
};

} // namespace

CarryOutcome carry_steps(const std::vector<NodeStep> &steps, Slurm &slurm)
{
    Carrier carrier(slurm);
    for (const NodeBatch &batch : batches_of(steps))
        carrier.carry(batch);
    return std::move(carrier.outcome);
}

} // namespace bridge
