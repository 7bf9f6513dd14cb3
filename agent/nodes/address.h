// SPDX-License-Identifier: GPL-2.0-or-later
// Parses NodeAddress= of k8s.conf: the address that Slurm records for external
// nodes. Pure.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>

namespace bridge {

struct NodeAddress {
    std::string ip;         // an IP literal
    std::uint16_t port = 0; // 0: the port of slurmctld
};

// Parses "IP[:PORT]". An empty text stands for 127.0.0.1, because the agent
// runs on the machine of slurmctld. Fails with Code::rejected and a message for
// the administrator.
Result<NodeAddress> parse_node_address(const std::string &text);

} // namespace bridge
