// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that setup and uninstall do in Kubernetes as the administrator is
// done by the site's own kubectl, which knows the administrator's kubeconfig
// with all its ways to log in. Blocks; each call has kubectl's own time limit.
#pragma once

#include "common/base/json.h"
#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

using Words = std::vector<std::string>;

// The cluster that the kubeconfig's current context names.
struct KubeCluster {
    std::string server;
    std::string ca;   // PEM; "": the kubeconfig names none
    bool odd = false; // it has settings that slurmk8sd does not know
};

// Reads what "kubectl config view --raw --minify --flatten -o json" prints.
// Code::rejected if it has no https server.
Result<KubeCluster> cluster_from(const Json &config);

class Kubectl {
  public:
    // kubeconfig: "": where kubectl itself finds one.
    explicit Kubectl(std::string kubeconfig)
        : kubeconfig_(std::move(kubeconfig))
    {
    }

    // Returns what it printed. Code::not_found if there is no kubectl,
    // Code::rejected with its own words if it failed.
    Result<std::string> run(Words words, std::string_view input = {}) const;
    // The same with "-o json". No value if it printed nothing, as with
    // --ignore-not-found.
    Result<Json> json(Words words) const;
    // Returns the exit status alone: 0 of "diff" means no difference.
    Result<int> status(Words words, std::string_view input = {}) const;
    // Tells whether we may do that: "create", "clusterroles".
    Result<bool> may(const std::string &verb,
                     const std::string &resource) const;

    Result<KubeCluster> cluster() const;

  private:
    Words command(Words words) const;

    std::string kubeconfig_;
};

} // namespace bridge
