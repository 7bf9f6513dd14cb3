// SPDX-License-Identifier: GPL-2.0-or-later
// What setup and uninstall find on this host, in slurmctld and in the cluster
// before they change anything.
#pragma once

#include "agent/objects/objects.h"
#include "cli/check/slurm_facts.h"
#include "cli/setup/kubectl.h"
#include "cli/setup/options.h"
#include "common/base/result.h"
#include "common/contract/conf.h"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bridge {

struct Site {
    SetupOptions options;
    Kubectl kubectl;
    SlurmFacts slurm;
    gid_t slurm_group = 0;
    std::string conf_path;
    std::string conf_text; // "": there is no k8s.conf
    Conf conf;
};

// The folder with the programs' own files, such as
// /usr/share/slurm-k8s-bridge/kubernetes, unless an option names another one.
std::string manifests_of(const SetupOptions &options);

// Fails with what the administrator has to do if this is not root, not the host
// of slurmctld, or if k8s.conf has a mistake.
Result<Site> find_site(const SetupOptions &options);

// Asks the API server whether it is there and whether we are administrator.
// Returns the minor number of its version 1.x.
Result<int> find_cluster(const Kubectl &kubectl);

// A selector of labels, or "" for all.
Result<std::vector<Node>> load_kube_nodes(const Kubectl &kubectl,
                                          const std::string &selector);
Result<std::vector<Namespace>> load_kube_namespaces(const Kubectl &kubectl);

// Runs one kubectl after the other.
Result<> run_all(const Kubectl &kubectl, const Commands &commands);

} // namespace bridge
