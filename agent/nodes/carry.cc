// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/carry.h"

#include "agent/nodes/batches.h"
#include "agent/nodes/creation.h"

namespace bridge {

namespace {

struct Carry {
    Slurm &slurm;

    Result<> operator()(const CreateNode &s)
    {
        return slurm.create_node(s.node);
    }
    Result<> operator()(const DownNode &s)
    {
        return slurm.set_down(s.node, s.reason);
    }
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

    // A node that could not be created or set DOWN, or whose `extra` could not
    // be set, gets no features, so that no job can start there.
    void carry(const NodeBatch &batch)
    {
        if (!std::holds_alternative<SetExtra>(batch.step) &&
            !std::holds_alternative<DownNode>(batch.step) &&
            !std::holds_alternative<SetFeatures>(batch.step))
            carry_all(batch);
        else if (auto rest = without(batch, outcome.failed))
            carry_all(*rest);
    }

    CarryOutcome outcome;

  private:
    void carry_all(const NodeBatch &batch)
    {
        auto done = std::visit(Carry{slurm_}, batch.step);
        if (done)
            return record_created(batch.step);
        if (batch.nodes.size() == 1)
            return fail_one(batch.nodes.front(), done.error());
        // One node makes the RPC fail for all: try each alone.
        for (const std::string &node : batch.nodes)
            carry_alone(step_for(batch.step, node), node);
    }

    // slurmctld does not update partitions for features that a new node gets
    // after its creation.
    void record_created(const NodeStep &step)
    {
        const auto *create = std::get_if<CreateNode>(&step);
        made_new_ |= create && is_new(create->node);
        if (made_new_ && std::holds_alternative<SetFeatures>(step))
            outcome.rebuild_due = true;
    }

    // When a list fails, slurmctld keeps the nodes before the first failure but
    // does not evaluate their features. A node that accepts features therefore
    // exists.
    void carry_alone(const NodeStep &step, const std::string &node)
    {
        auto done = std::visit(Carry{slurm_}, step);
        if (done)
            return record_created(step);
        if (const auto *create = std::get_if<CreateNode>(&step)) {
            outcome.rebuild_due = true;
            if (slurm_.set_features(node, create->node.features,
                                    create->node.features))
                return; // the node exists already
        }
        fail_one(node, done.error());
    }

    void fail_one(const std::string &node, const Error &error)
    {
        outcome.failed.insert(node);
        outcome.warnings.push_back(error.message);
    }

    Slurm &slurm_;
    bool made_new_ = false;
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
