// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes, the Pods of other schedulers on them, and who hears what a sync of
// Slurm's nodes has found.
#include "agent/owner/owner.h"

#include <utility>

namespace bridge {

void Owner::on(Listed<Node> &nodes)
{
    to_.first.add(FirstLists::List::nodes);
    if (nodes.objects.empty() && !to_.nodes.all().empty()) {
        to_.context.health.problem(nodes_problem,
                                   "Kubernetes lists no Node at all any more: "
                                   "nothing is changed in Slurm");
        return;
    }
    to_.sync.sync_when_due();
    for (const Node &node : nodes.objects)
        to_.lost_nodes.note(node);
    for (const std::string &name : to_.nodes.replace(std::move(nodes.objects)))
        to_.lost_nodes.note_gone(name);
}

void Owner::on(Changed<Node> &node)
{
    to_.context.health.count("node");
    const std::string &name = node.object.name;
    if (node.deleted) {
        to_.lost_nodes.note_gone(name);
        if (to_.nodes.erase(name))
            to_.sync.sync_when_due();
        return;
    }
    to_.lost_nodes.note(node.object);
    const Node *known = to_.nodes.find(name);
    if (!known || !same_for_slurm(*known, node.object))
        to_.sync.sync_now();
    to_.nodes.put(std::move(node.object));
}

void Owner::on(Listed<ForeignPod> &pods)
{
    to_.outside.replace(std::move(pods.objects));
}

void Owner::on(Changed<ForeignPod> &pod)
{
    to_.outside.put(std::move(pod.object), pod.deleted);
}

Clock::time_point Owner::node_deadline() const
{
    return to_.first.has(FirstLists::List::nodes) ? to_.sync.next()
                                                  : Clock::time_point::max();
}

void Owner::sync_node_list()
{
    to_.node_sync.begin(
        {.wishes = to_.placement.wishes(to_.synced()),
         .dirty = to_.synced() ? to_.room.dirty() : DirtyNodes(),
         .foreign = to_.outside.taken(),
         .list_shadows = to_.shadows.pop_doubt(),
         .devices = to_.devices.to_sync()});
}

void Owner::on(NodesSynced &synced)
{
    to_.lost_nodes.forget_gone();
    auto news = to_.node_sync.take(synced);
    if (!news)
        return;
    NodeSyncResult &found = news->found;
    to_.first.add(FirstLists::List::slurm_nodes);
    if (news->knew_devices)
        to_.first.add(FirstLists::List::slurm_devices);
    to_.placement.take(found, news->doubted);
    to_.devices.take(found, std::move(news->cpu_nodes));
    Pins::News pins = to_.pins.take(std::move(found.pinned), news->doubted);
    if (!news->doubted && (pins.changed || pins.back))
        to_.adoptions.look_for_unfit(pins.back);
    if (news->nodes_changed || news->kinds_changed)
        to_.room.nodes_changed();
    to_.shadows.take(found.shadows);
    to_.node_marks.patch(found.patches);
    to_.node_marks.report_refused(found.refused);
    if (news->nodes_changed) // a job may be possible now
        to_.attempts.all_again();
    else if (pins.changed)
        to_.attempts.adoptions_again();
}

} // namespace bridge
