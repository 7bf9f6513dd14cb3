// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/lost_nodes.h"

#include <algorithm>
#include <vector>

namespace bridge {

namespace {

constexpr char out_of_service_taint[] = "node.kubernetes.io/out-of-service";
constexpr char lost_problem[] = "lost nodes";
// If more Nodes than this became unhealthy at about the same time, the cause is
// probably elsewhere.
constexpr std::size_t many_nodes = 5;
constexpr std::chrono::seconds together{60};

bool out_of_service(const Node &node)
{
    return std::ranges::contains(node.taints, out_of_service_taint,
                                 &Taint::key);
}

} // namespace

void LostNodes::note(const Node &node)
{
    bool was_ill = ill_.contains(node.name);
    if (node.ready == was_ill || out_of_service(node))
        wake_living_on(node.name);
    if (node.ready)
        forget(node.name);
    else
        ill_.try_emplace(node.name, Ill{context_.now, node.ready_changed});
}

void LostNodes::forget(const std::string &node)
{
    ill_.erase(node);
    if (ill_.size() <= many_nodes)
        context_.health.solved(lost_problem);
}

void LostNodes::forget_gone()
{
    std::vector<std::string> gone;
    for (const auto &[name, ill] : ill_)
        if (!nodes_.find(name) && gangs_.living_on(name).empty())
            gone.push_back(name);
    for (const std::string &name : gone)
        forget(name);
}

void LostNodes::wake_living_on(const std::string &node)
{
    for (const auto &[uid, pods] : gangs_.living_on(node))
        agenda_.wake(uid);
}

std::string LostNodes::lost_node_reason(GangEntry &entry)
{
    std::string reason;
    for (const PodPtr &pod : entry.gang.pods)
        if (pod->living() && reason.empty())
            reason = reason_for(entry, pod->node_name);
    return reason;
}

std::string LostNodes::reason_for(GangEntry &entry, const std::string &name)
{
    const Node *known = nodes_.find(name);
    if (known && out_of_service(*known))
        return "the Node " + name + " is out of service";
    if (known && known->ready)
        return {};
    auto today = std::chrono::floor<std::chrono::seconds>(context_.wall);
    const Ill &ill =
        ill_.try_emplace(name, Ill{context_.now, today}).first->second;
    auto due = ill.since + context_.conf->node_lost_timeout;
    if (context_.now < due) {
        agenda_.wake_at(entry, due);
        return {};
    }
    if (many_fell(ill)) {
        context_.health.problem(
            lost_problem, "many Nodes became unhealthy together, so none of "
                          "them counts as lost. Taint those that are really "
                          "lost with " +
                              std::string(out_of_service_taint));
        return {};
    }
    return "the Node " + name + (known ? " is not ready" : " is gone");
}

bool LostNodes::many_fell(const Ill &with) const
{
    auto count = std::ranges::count_if(ill_, [&](const auto &ill) {
        auto apart = ill.second.began - with.began;
        return apart <= together && apart >= -together;
    });
    return static_cast<std::size_t>(count) > many_nodes;
}

} // namespace bridge
