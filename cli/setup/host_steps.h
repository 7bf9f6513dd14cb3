// SPDX-License-Identifier: GPL-2.0-or-later
// The files that setup writes on the host of slurmctld: the certificate
// authority, the token and k8s.conf. Each step leaves alone what is good.
#pragma once

#include "cli/setup/report.h"
#include "cli/setup/site.h"

#include <string>

namespace bridge {

// In the directory that the systemd unit lets slurmk8sd write.
inline constexpr char default_token_file[] = "/var/lib/slurmk8s/token";

// Where the files go, and what k8s.conf says of them in the end.
struct HostPlan {
    std::string server; // KubeApiServer
    std::string ca_file;
    std::string token_file;
    std::string partition;
};

// Keeps what k8s.conf has, except the address of the example and what an option
// names.
HostPlan plan_host(const Site &site, const KubeCluster &cluster);

Result<> write_ca(const Site &site, const HostPlan &plan,
                  const KubeCluster &cluster, const Report &report);
Result<> write_token(const Site &site, const HostPlan &plan, Report &report);
// changed: whether it did, or would.
Result<> write_conf(const Site &site, const HostPlan &plan,
                    const Report &report, bool &changed);

} // namespace bridge
