// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/node_marks.h"

#include "agent/calls/access.h"
#include "agent/owner/pauses.h"
#include "common/base/log.h"

namespace bridge {

void NodeMarks::patch(const std::vector<NodePatch> &patches)
{
    if (!context_.ports.access.may(Feature::nodes_patch))
        return;
    std::erase_if(patched_,
                  [this](const auto &one) { return !nodes_.find(one.first); });
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
void NodeMarks::patched(const std::string &node, const Result<> &done)
{
    if (done)
        return;
    const Error &error = done.error();
    context_.health.count("node_patch_failed");
    log_debug("cannot patch a Node, retrying", {{"err", error.message}});
    patched_.erase(node);
    sync_.retry_in(error.code == Code::conflict ? node_doubt_pause
                                                : node_step_pause);
}

void NodeMarks::report_refused(
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
