// SPDX-License-Identifier: GPL-2.0-or-later
// The options of slurmk8s setup and slurmk8s uninstall. See slurmk8s(1).
#pragma once

#include "cli/setup/opt_in.h"
#include "common/base/result.h"

#include <chrono>
#include <string>
#include <vector>

namespace bridge {

struct SetupOptions {
    std::string conf_path;  // "": k8s.conf beside slurm.conf
    std::string kubeconfig; // "": where kubectl finds one
    std::string manifests;  // the folder with "base", "components" and "all"
    std::string components; // "": as the last time, or "all"
    std::string api_server; // "": that of k8s.conf, or of the kubeconfig
    std::string partition;  // "": that of k8s.conf, or "k8s"
    std::chrono::seconds token_life{7 * 24 * 3600};
    std::vector<std::string> nodes;
    std::string node_selector;
    std::vector<NamespaceWish> namespaces;
    bool write_slurm_conf = false;
    bool dry_run = false;
    bool yes = false;   // uninstall: really do it
    bool force = false; // uninstall: also while Pods of Slurm live
    bool help = false;
};

// argv[0] is the command. Code::rejected with what is wrong; for a word that
// getopt_long(3) does not know it has printed that itself.
Result<SetupOptions> parse_setup_options(int argc, char **argv, bool uninstall);

// Parses "12h", "7d", "90m" or a number of seconds, from an hour to 30 days.
Result<std::chrono::seconds> parse_token_life(const std::string &text);

extern const char setup_help[];
extern const char uninstall_help[];

} // namespace bridge
