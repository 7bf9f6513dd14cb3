// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes, the Pods of other schedulers on them, and the sync that makes Slurm's
// nodes match them and reports Slurm's view on the Nodes.
#include "agent/owner/bridge.h"

#include "agent/calls/access.h"
#include "agent/nodes/words.h"
#include "common/base/log.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds retry_pause{30}; // after a step that failed
// slurmctld does not answer, or the state of nodes is in doubt
constexpr std::chrono::seconds slurm_pause{2};

bool bound_by_others(const Pod &pod)
{
    return pod.living() && !binder_of(pod);
}

} // namespace

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
    // Earlier syncs did not know what other Pods use, even if there are none.
    bool first = first_.add(FirstLists::List::foreign_pods);
    if (!foreign_.replace(pods.objects).empty() || first)
        sync_.change_soon();
}

void Bridge::on(Changed<ForeignPod> &pod)
{
    if (pod.deleted)
        pod.object.node.clear();
    for (const std::string &node : foreign_.put(pod.object))
        if (nodes_.is_slurms(node))
            sync_.change_soon();
}

void Bridge::record_stray(const Pod &pod, bool deleted)
{
    bool stray = !deleted && bound_by_others(pod);
    ForeignPod taken{pod.uid, stray ? pod.node_name : "",
                     amounts_of(pod.requests), true};
    if (!strays_.put(taken).empty())
        sync_.change_soon();
}

Clock::time_point Bridge::node_deadline() const
{
    return first_.has(FirstLists::List::nodes) ? sync_.next()
                                               : Clock::time_point::max();
}

// Returns the Slurm nodes on which our Pods live, whatever Node that is.
std::set<std::string> Bridge::occupied_nodes() const
{
    std::set<std::string> nodes;
    for (const auto &[node, uids] : gangs_.living()) {
        if (uids.empty())
            continue;
        nodes.insert(nodes_.slurm_name_of(node));
        for (const std::string &uid : uids) // for a Node that is gone
            for (const PodPtr &pod : gangs_.all().at(uid).gang.pods)
                nodes.insert(pod->annotation(names::node_annotation));
    }
    return nodes;
}

NodePlanInput Bridge::plan_input()
{
    NodePlanInput input;
    input.nodes.reserve(nodes_.all().size());
    for (const auto &[name, node] : nodes_.all())
        input.nodes.push_back(node);
    if (first_.has(FirstLists::List::foreign_pods)) {
        input.foreign.emplace();
        for (const auto &[name, node] : nodes_.all()) {
            if (!is_opted_in(*node))
                continue;
            Amounts taken = foreign_.on(name);
            taken += strays_.on(name);
            if (taken != Amounts{})
                input.foreign->emplace(name, taken);
        }
    }
    input.wishes = placement_.wishes(synced());
    input.feature_labels = context_.conf->feature_labels;
    if (synced())
        input.dirty = room_.dirty();
    input.occupied = occupied_nodes();
    input.before = nodes_.slurm_nodes();
    input.marks = {context_.conf->taint_nodes, context_.conf->cordon_nodes};
    devices_.add_to(input);
    return input;
}

void Bridge::sync_node_list()
{
    syncing_devices_ = devices_.known();
    absences_at_sync_ = line_.absences();
    if (devices_.given_up())
        sync_.change_soon(); // add the nodes that waited
    bool changed = sync_.begin();
    errands_.load<NodesSynced>(
        [request =
             NodeSyncRequest{plan_input(), changed,
                             std::exchange(list_shadows_, false), context_.now},
         conf = context_.conf, state = sync_state_](Slurm &slurm) {
            return sync_nodes(request, slurm, *conf, *state);
        });
}

void Bridge::on(NodesSynced &synced)
{
    illness_.forget_gone();
    if (!synced.result) {
        sync_.failed(slurm_pause);
        context_.health.problem(nodes_problem, synced.result.error().message);
        return;
    }
    sync_.succeeded();
    if (!synced.result->unchanged)
        apply_node_sync(*synced.result);
}

void Bridge::apply_node_sync(NodeSyncResult &result)
{
    bool changed = nodes_.slurm_nodes() != result.nodes;
    if (absences_at_sync_ != line_.absences())
        result.pinned.clear(); // as in on(HookLost)
    bool pinned = pinned_ != result.pinned;
    first_.add(FirstLists::List::slurm_nodes);
    if (syncing_devices_)
        first_.add(FirstLists::List::slurm_devices);
    nodes_.set_sizes(std::move(result.sizes));
    placement_.take(result, absences_at_sync_ != line_.absences());
    devices_.take(result);
    if (pinned)
        pinned_ = std::move(result.pinned);
    if (absences_at_sync_ == line_.absences() && (pinned || pins_lost_))
        look_for_unfit_adoptions();
    if (changed || nodes_.hybrid() != result.hybrid) {
        nodes_.set_slurm_nodes(std::move(result.nodes),
                               std::move(result.hybrid));
        room_.nodes_changed();
    }
    open_shadows(result.shadows);
    patch_nodes(result.patches);
    report_refused_nodes(result.refused);
    std::string words;
    for (const std::string &warning : result.warnings)
        words += (words.empty() ? "" : "; ") + warning;
    if (words.empty())
        context_.health.solved(nodes_problem);
    else
        context_.health.problem(nodes_problem, words);
    if (result.retry)
        sync_.retry_in(result.retry_soon ? slurm_pause : retry_pause);
    if (changed) // a job may be possible now
        attempts_.all_again();
    else if (pinned)
        attempts_.adoptions_again();
}

// Shadow jobs have nothing to start, so their prologs are released at once.
void Bridge::open_shadows(const std::vector<JobRef> &shadows)
{
    std::set<JobRef> known(shadows.begin(), shadows.end());
    for (JobRef job : known)
        if (!shadows_.contains(job))
            line_.send({.type = HookMessage::Type::start, .job = job});
    shadows_ = std::move(known);
}

void Bridge::patch_nodes(const std::vector<NodePatch> &patches)
{
    if (!context_.ports.access.may(Feature::nodes_patch))
        return;
    for (const NodePatch &patch : patches) {
        std::string &sent = patched_[patch.node];
        if (sent == patch.resource_version)
            continue; // its outcome is not known yet
        sent = patch.resource_version;
        errands_.report([patch](Kube &kube) { return kube.patch_node(patch); },
                        [this, node = patch.node](const Result<> &done) {
                            patched(node, done);
                        });
    }
}

// The watch shows a patch that worked.
void Bridge::patched(const std::string &node, const Result<> &done)
{
    if (done)
        return;
    const Error &error = done.error();
    context_.health.count("node_patch_failed");
    log_debug("cannot patch a Node, retrying", {{"err", error.message}});
    patched_.erase(node);
    sync_.retry_in(error.code == Code::conflict ? slurm_pause : retry_pause);
}

// Reports the reason on the Node, once each time it changes.
void Bridge::report_refused_nodes(
    const std::map<std::string, std::string> &refused)
{
    for (const auto &[name, reason] : refused) {
        NodePtr node = nodes_.at(name);
        auto told = refused_.find(name);
        if (!node || (told != refused_.end() && told->second == reason))
            continue;
        errands_.report([node, reason](Kube &kube) {
            (void)kube.post_node_event(
                *node, {PodEvent::Type::warning, "SlurmNodeRefused",
                        "Registering", "Slurm does not serve it: " + reason});
        });
    }
    refused_ = refused;
}

} // namespace bridge
