// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/node_demands.h"

#include "agent/batch/demand_pods.h"
#include "agent/calls/access.h"

#include <algorithm>
#include <chrono>

namespace bridge {

namespace {

constexpr std::chrono::seconds array_pause{1};
constexpr char problem[] = "Nodes for batch jobs";

} // namespace

// Also without a change: somebody may have deleted a Pod.
void NodeDemands::take(const std::vector<Job> &jobs)
{
    const Conf &conf = *context_.conf;
    std::erase_if(dropped_, [this](const auto &one) {
        return one.second < lists_.asked();
    });
    wanted_ = {demands_of(jobs, conf), context_.conf};
    std::erase_if(wanted_.demands, [this](const NodeDemand &demand) {
        return dropped_.contains(demand.leader);
    });
    listed_ = true;
    if (!conf.node_pools.empty() && !conf.batch_namespace.empty())
        lists_.list_by(context_.now + conf.reason_interval);
    if (!wanted_.demands.empty())
        carried_ = {};
    carry();
}

void NodeDemands::allocated(JobRef job)
{
    if (!drop(job) &&
        std::ranges::contains(wanted_.demands, true, &NodeDemand::array))
        lists_.list_by(context_.now + array_pause);
}

bool NodeDemands::drop(JobRef job)
{
    if (context_.conf->node_pools.empty())
        return false;
    dropped_[job.id] = context_.now;
    if (std::erase_if(wanted_.demands, [&](const NodeDemand &demand) {
            return demand.leader == job.id;
        }) == 0)
        return false;
    carry();
    return true;
}

// Without pools nothing is wanted: the Pods of an earlier k8s.conf are deleted
// once, after the start.
void NodeDemands::carry()
{
    if (in_flight_ || !listed_ || carried_ == wanted_)
        return;
    const std::string &now = context_.conf->batch_namespace;
    Wish wish = wanted_;
    if (!namespace_.empty() && namespace_ != now) {
        auto before = std::make_shared<Conf>(*wish.conf);
        before->batch_namespace = namespace_; // there nothing is wanted
        wish = {{}, std::move(before)};
    } else if (now.empty()) {
        return;
    }
    if (!context_.ports.access.may(Feature::sbatch))
        return;
    namespace_ = wish.conf->batch_namespace;
    in_flight_ = true;
    errands_.ask(
        [wish](Kube &kube) {
            return carry_demands(wish.demands, *wish.conf, kube);
        },
        [this, wish](const Result<std::size_t> &left) { carried(wish, left); });
}

void NodeDemands::carried(const Wish &wish, const Result<std::size_t> &left)
{
    in_flight_ = false;
    bool changed = wish != wanted_;
    if (left) {
        context_.health.solved(problem);
        if (*left == 0)
            carried_ = wish;
        if (wish.conf->batch_namespace != context_.conf->batch_namespace)
            namespace_.clear();
        return carry();
    }
    carried_ = {};
    context_.health.problem(problem,
                            "autoscalers are not told which Nodes they wait "
                            "for: " +
                                left.error().message);
    if (changed && left.error().code != Code::denied)
        carry(); // a job has got its nodes meanwhile
}

} // namespace bridge
