// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/node_demands.h"

#include "agent/batch/demand_pods.h"
#include "agent/calls/access.h"
#include "common/base/log.h"

#include <algorithm>
#include <chrono>

namespace bridge {

namespace {

constexpr std::chrono::seconds array_pause{1};

} // namespace

void NodeDemands::take(const std::vector<Job> &jobs)
{
    const Conf &conf = *context_.conf;
    wanted_ = demands_of(jobs, conf);
    if (!conf.node_pools.empty() && !conf.batch_namespace.empty())
        lists_.list_by(context_.now + conf.reason_interval);
    carry();
}

void NodeDemands::allocated(JobRef job)
{
    if (!drop(job) && wanted_ &&
        std::ranges::contains(*wanted_, true, &NodeDemand::array))
        lists_.list_by(context_.now + array_pause);
}

bool NodeDemands::drop(JobRef job)
{
    if (!wanted_ || std::erase_if(*wanted_, [&](const NodeDemand &demand) {
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
    if (in_flight_ || carried_ == wanted_ ||
        context_.conf->batch_namespace.empty() ||
        !context_.ports.access.may(Feature::sbatch))
        return;
    in_flight_ = true;
    errands_.ask(
        [demands = *wanted_, conf = context_.conf](Kube &kube) {
            return carry_demands(demands, *conf, kube);
        },
        [this, demands = *wanted_](const Result<> &done) {
            in_flight_ = false;
            if (done) {
                carried_ = demands;
                return carry();
            }
            carried_.reset();
            log_warning("cannot tell autoscalers which Nodes batch jobs wait "
                        "for; the next list of jobs tries again",
                        {{"err", done.error().message}});
        });
}

} // namespace bridge
