// SPDX-License-Identifier: GPL-2.0-or-later
// What changes with time and with unhealthy Nodes: which Pods count as lost,
// and which do not end.
#include "agent/owner/bridge.h"

#include "agent/gang/facts.h"
#include "common/base/log.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr char out_of_service_taint[] = "node.kubernetes.io/out-of-service";
constexpr char lost_problem[] = "lost nodes";
// If more Nodes than this became unhealthy at about the same time, the cause is
// probably elsewhere.
constexpr std::size_t many_nodes = 5;
constexpr std::chrono::seconds together{60};
constexpr std::chrono::seconds end_margin{30}; // beyond the grace period

bool out_of_service(const Node &node)
{
    return std::ranges::contains(node.taints, out_of_service_taint,
                                 &Taint::key);
}

} // namespace

void Bridge::update_node_health(const Node &node)
{
    bool was_ill = ill_nodes_.contains(node.name);
    if (node.ready == was_ill || out_of_service(node))
        wake_living_on(node.name);
    if (node.ready)
        forget_illness(node.name);
    else
        ill_nodes_.try_emplace(node.name,
                               Illness{context_.now, node.ready_changed});
}

void Bridge::forget_illness(const std::string &node)
{
    ill_nodes_.erase(node);
    if (ill_nodes_.size() <= many_nodes)
        context_.health.solved(lost_problem);
}

// Forgets Nodes that are gone and have no Pod left.
void Bridge::forget_gone_nodes()
{
    std::vector<std::string> gone;
    for (const auto &[name, ill] : ill_nodes_)
        if (!nodes_.contains(name) && gangs_.living_on(name).empty())
            gone.push_back(name);
    for (const std::string &name : gone)
        forget_illness(name);
}

void Bridge::wake_living_on(const std::string &node)
{
    for (const std::string &uid : gangs_.living_on(node))
        agenda_.wake(uid);
}

// Derives what decide() needs from the time that has passed.
void Bridge::update_overdue(GangEntry &entry)
{
    Gang &gang = entry.gang;
    gang.lost_node_reason = lost_node_reason(entry);
    gang.max_grace = max_grace(gang);
    gang.allowed_grace = allowed_grace();

    auto grace = time_to_end(gang);
    gang.end_overdue = false;
    if (!grace || !is_ended(gang.job->state)) {
        entry.ending_since.reset();
        return;
    }
    if (!entry.ending_since)
        entry.ending_since = context_.now;
    auto due = *entry.ending_since + *grace + end_margin;
    gang.end_overdue = context_.now >= due;
    if (!gang.end_overdue)
        agenda_.wake_at(entry, due);
}

// A preempted job has the GraceTime of its partition, if there is one.
std::chrono::seconds Bridge::max_grace(const Gang &gang) const
{
    auto grace =
        context_.conf->max_grace_period.value_or(grace_times_.kill_wait);
    if (gang.job && gang.job->state == JobState::preempted)
        if (auto own = grace_times_.preempted.find(gang.job->partition);
            own != grace_times_.preempted.end())
            grace = own->second;
    return std::clamp(grace, std::chrono::seconds(1),
                      std::chrono::seconds(max_grace_period));
}

// A kubelet that is stopping a container already when the job ends goes on with
// the grace period with which it began, so max_grace() comes too late for it. A
// Pod that asks for nothing always gets a job.
std::chrono::seconds Bridge::allowed_grace() const
{
    auto most = std::max(
        context_.conf->max_grace_period.value_or(grace_times_.kill_wait),
        std::chrono::seconds(default_grace_period));
    for (const auto &[partition, grace] : grace_times_.preempted)
        most = std::max(most, grace);
    return std::min(most, std::chrono::seconds(max_grace_period));
}

// Returns why a Node of one of its Pods counts as lost, or "" while there is
// any doubt.
std::string Bridge::lost_node_reason(GangEntry &entry)
{
    for (const PodPtr &pod : entry.gang.pods) {
        if (!pod->living())
            continue;
        auto known = nodes_.find(pod->node_name);
        if (known != nodes_.end() && out_of_service(*known->second))
            return "the Node " + pod->node_name + " is out of service";
        if (known != nodes_.end() && known->second->ready)
            continue;
        auto now = std::chrono::floor<std::chrono::seconds>(
            std::chrono::system_clock::now());
        auto ill =
            ill_nodes_.try_emplace(pod->node_name, Illness{context_.now, now})
                .first;
        auto due = ill->second.since + context_.conf->node_lost_timeout;
        if (context_.now < due)
            agenda_.wake_at(entry, due);
        else if (many_fell_ill(pod->node_name))
            context_.health.problem(
                lost_problem,
                "many Nodes became unhealthy together, so none of them "
                "counts as lost. Taint those that are really lost with " +
                    std::string(out_of_service_taint));
        else
            return "the Node " + pod->node_name +
                   (known == nodes_.end() ? " is gone" : " is not ready");
    }
    return {};
}

bool Bridge::many_fell_ill(const std::string &node) const
{
    auto began = ill_nodes_.at(node).began;
    auto count = std::ranges::count_if(ill_nodes_, [&](const auto &ill) {
        auto apart = ill.second.began - began;
        return apart <= together && apart >= -together;
    });
    return static_cast<std::size_t>(count) > many_nodes;
}

} // namespace bridge
