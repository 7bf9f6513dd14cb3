// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/node_sync.h"

#include "agent/calls/access.h"
#include "agent/gres/inventory.h"
#include "agent/owner/pauses.h"

#include <utility>

namespace bridge {

// Returns the Slurm nodes on which our Pods live, whatever Node that is.
std::set<std::string> NodeSync::occupied_nodes() const
{
    std::set<std::string> nodes;
    for (const auto &[node, gangs] : gangs_.living()) {
        nodes.insert(nodes_.slurm_name_of(node));
        for (const auto &[uid, pods] : gangs)
            for (const PodPtr &pod : pods) // for a Node that is gone
                nodes.insert(pod->annotation(names::node_annotation));
    }
    return nodes;
}

// Returns true for some time after the start; if devices are not listed by
// then, or a driver has not published all of a pool, they may never be. The
// plan, which sees the inventory, makes nodes sooner if that is complete.
bool NodeSync::await_devices(const Devices &devices)
{
    auto made = devices.inventory ? devices.inventory->if_made() : nullptr;
    bool complete = made && made->doubtful.empty();
    if (!devices.counted || (devices.known && complete))
        return false;
    if (!devices_expected_until_)
        devices_expected_until_ = context_.now + devices_patience;
    bool denied = context_.ports.access.answered() &&
                  !context_.ports.access.may(Feature::devices);
    return !denied && context_.now < *devices_expected_until_;
}

NodePlanInput NodeSync::input_of(Wants wants)
{
    NodePlanInput input;
    input.nodes.reserve(nodes_.all().size());
    for (const auto &[name, node] : nodes_.all())
        input.nodes.push_back(node);
    input.foreign = std::move(wants.foreign);
    input.wishes = std::move(wants.wishes);
    input.feature_labels = context_.conf->feature_labels;
    input.dirty = std::move(wants.dirty);
    input.occupied = occupied_nodes();
    input.before = nodes_.slurm_nodes();
    input.pools = context_.conf->node_pools;
    input.marks = {context_.conf->taint_nodes, context_.conf->cordon_nodes};
    Devices &devices = wants.devices;
    input.await_devices = await_devices(devices);
    input.count_devices = devices.counted;
    input.device_claims = std::move(devices.claims);
    input.catalog = std::move(devices.catalog);
    return input;
}

void NodeSync::begin(Wants wants)
{
    constexpr Clock::time_point over = Clock::time_point::min();
    knew_devices_ = wants.devices.known;
    absences_ = line_.absences();
    if (!await_devices(wants.devices) &&
        devices_expected_until_.value_or(over) != over) {
        devices_expected_until_ = over;
        times_.sync_now(); // add the nodes that waited
    }
    bool changed = times_.begin();
    bool list_shadows = wants.list_shadows;
    auto inventory = wants.devices.inventory;
    errands_.load<NodesSynced>(
        [request =
             NodeSyncRequest{input_of(std::move(wants)), changed, list_shadows,
                             context_.now, std::move(inventory)},
         conf = context_.conf, state = state_](Slurm &slurm) {
            return sync_nodes(request, slurm, *conf, *state);
        });
}

std::optional<NodeSync::News> NodeSync::take(NodesSynced &synced)
{
    if (!synced.result) {
        times_.failed(node_doubt_pause);
        context_.health.problem(nodes_problem, synced.result.error().message);
        return std::nullopt;
    }
    times_.succeeded();
    if (synced.result->unchanged)
        return std::nullopt;
    News news{.found = std::move(*synced.result)};
    NodeSyncResult &found = news.found;
    news.doubted = absences_ != line_.absences();
    news.knew_devices = knew_devices_;
    for (const std::string &name : found.cpu_nodes)
        if (auto node = found.nodes.find(name); node != found.nodes.end())
            news.cpu_nodes.insert(node->second);
    news.nodes_changed = nodes_.slurm_nodes() != found.nodes;
    news.kinds_changed = nodes_.hybrid() != found.hybrid;
    nodes_.set_sizes(std::move(found.sizes));
    if (news.nodes_changed || news.kinds_changed)
        nodes_.set_slurm_nodes(std::move(found.nodes), std::move(found.hybrid));
    say_problems(found);
    if (found.retry)
        times_.retry_in(found.retry_soon ? node_doubt_pause : node_step_pause);
    return news;
}

void NodeSync::say_problems(const NodeSyncResult &found)
{
    std::string words;
    for (const std::string &warning : found.warnings)
        words += (words.empty() ? "" : "; ") + warning;
    if (words.empty())
        context_.health.solved(nodes_problem);
    else
        context_.health.problem(nodes_problem, words);
}

} // namespace bridge
