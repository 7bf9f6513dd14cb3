// SPDX-License-Identifier: GPL-2.0-or-later
// What setup makes in the cluster: the manifests, and the opt-in of Nodes and
// Namespaces. What was applied is remembered in a ConfigMap beside the agent's
// ServiceAccount, where only administrators can write it.
#pragma once

#include "cli/setup/manifests.h"
#include "cli/setup/report.h"
#include "cli/setup/site.h"

#include <string>
#include <vector>

namespace bridge {

// What the last setup has applied; empty if there was none.
struct Applied {
    std::string components; // as in --components
    std::vector<ObjectId> objects;
};
Result<Applied> load_applied(const Kubectl &kubectl);

// What `words` (as in --components) stands for on this cluster, as the text of
// the manifests.
Result<std::string> render(const Site &site, const std::string &words,
                           int minor);

// Applies them, and deletes what the last setup has applied beyond them.
Result<> apply_manifests(const Site &site, int minor, const Report &report);

// Those of --nodes and --node-selector. Fails if there is no Node of a name.
Result<std::vector<Node>> chosen_nodes(const Site &site);
Result<> opt_in_nodes(const Site &site, const std::vector<Node> &nodes,
                      const Report &report);
Result<> opt_in_namespaces(const Site &site, const Report &report);

} // namespace bridge
