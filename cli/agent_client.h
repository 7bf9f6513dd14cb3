// SPDX-License-Identifier: GPL-2.0-or-later
// Sends requests to slurmk8sd at its WebAddress. Blocks for half a minute at
// most.
#pragma once

#include "common/base/result.h"

#include <string>

namespace bridge {

struct AgentReply {
    int status = 0;   // HTTP status
    std::string body; // as received; may be unsafe for a terminal
};

// path includes the query, already encoded. Code::busy when the agent does not
// answer, Code::rejected when the answer is longer than 64 MiB: any user may
// have taken the address while the agent does not run.
Result<AgentReply> ask_agent(const std::string &address,
                             const std::string &path);

} // namespace bridge
