// SPDX-License-Identifier: GPL-2.0-or-later
// NodeAddress= of k8s.conf: where external nodes are said to be. Pure.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>

namespace bridge {

struct NodeAddress {
    std::string ip;         // a literal
    std::uint16_t port = 0; // 0: slurmctld's
};

// IP[:PORT], or nothing for the machine of slurmctld, beside which we are.
// Code::rejected with a sentence for the administrator.
Result<NodeAddress> parse_node_address(const std::string &text);

} // namespace bridge
