// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes, the Pods of other schedulers on them, and who hears what a sync of
// Slurm's nodes has found.
#include "agent/owner/bridge.h"

#include <utility>

namespace bridge {

void Bridge::on(Listed<Node> &nodes)
{
    first_.add(FirstLists::List::nodes);
    if (nodes.objects.empty() && !nodes_.all().empty()) {
        context_.health.problem(nodes_problem,
                                "Kubernetes lists no Node at all any more: "
                                "nothing is changed in Slurm");
        return;
    }
    sync_.change();
    for (const Node &node : nodes.objects)
        illness_.note(node);
    for (const std::string &name : nodes_.replace(std::move(nodes.objects)))
        illness_.note_gone(name);
}

void Bridge::on(Changed<Node> &node)
{
    context_.health.count("node");
    const std::string &name = node.object.name;
    if (node.deleted) {
        illness_.note_gone(name);
        if (nodes_.erase(name))
            sync_.change();
        return;
    }
    illness_.note(node.object);
    const Node *known = nodes_.find(name);
    if (!known || !same_for_slurm(*known, node.object))
        sync_.change_soon();
    nodes_.put(std::move(node.object));
}

void Bridge::on(Listed<ForeignPod> &pods)
{
    outside_.replace(pods.objects);
}

void Bridge::on(Changed<ForeignPod> &pod)
{
    outside_.put(std::move(pod.object), pod.deleted);
}

Clock::time_point Bridge::node_deadline() const
{
    return first_.has(FirstLists::List::nodes) ? sync_.next()
                                               : Clock::time_point::max();
}

void Bridge::sync_node_list()
{
    node_sync_.begin({.wishes = placement_.wishes(synced()),
                      .dirty = synced() ? room_.dirty() : DirtyNodes(),
                      .foreign = outside_.taken(),
                      .list_shadows = shadows_.pop_doubt(),
                      .devices = devices_.to_sync()});
}

void Bridge::on(NodesSynced &synced)
{
    illness_.forget_gone();
    auto news = node_sync_.take(synced);
    if (!news)
        return;
    NodeSyncResult &found = news->found;
    first_.add(FirstLists::List::slurm_nodes);
    if (news->knew_devices)
        first_.add(FirstLists::List::slurm_devices);
    placement_.take(found, news->doubted);
    devices_.take(found, std::move(news->cpu_nodes));
    Pins::News pins = pins_.take(std::move(found.pinned), news->doubted);
    if (!news->doubted && (pins.changed || pins.back))
        adoptions_.look_for_unfit(pins.back);
    if (news->nodes_changed || news->kinds_changed)
        room_.nodes_changed();
    shadows_.take(found.shadows);
    node_marks_.patch(found.patches);
    node_marks_.report_refused(found.refused);
    if (news->nodes_changed) // a job may be possible now
        attempts_.all_again();
    else if (pins.changed)
        attempts_.adoptions_again();
}

} // namespace bridge
