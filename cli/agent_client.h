// SPDX-License-Identifier: GPL-2.0-or-later
// Asks slurmk8sd at its WebAddress. Blocks for some seconds at most.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

struct AgentReply {
    int status = 0;   // HTTP's
    std::string body; // as the agent wrote it: not fit for a terminal yet
};

// path: with its query, which is encoded already. Code::busy when the agent
// does not answer.
Result<AgentReply> ask_agent(const std::string &address,
                             const std::string &path);

} // namespace bridge
