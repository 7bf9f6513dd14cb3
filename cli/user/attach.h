// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a command in the container of a job, with the stdin, stdout, stderr and
// terminal of this process.
#pragma once

#include "common/base/result.h"
#include "common/contract/session_conf.h"
#include "common/contract/session_request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Makes the request; it asks for a terminal if stdin and stdout are one.
SessionRequest attach_request(std::uint32_t job,
                              std::vector<std::string> command);

// Blocks until the command ends or slurmk8sd refuses the request.
Result<SessionEnd> attach_to(const SessionConf &conf,
                             const SessionRequest &request);

// Returns a command that starts bash or sh, whichever exists, with our TERM.
std::vector<std::string> shell_command();

} // namespace bridge
