// SPDX-License-Identifier: GPL-2.0-or-later
// A command in the container of a job, with this process' stdin, stdout, stderr
// and terminal.
#pragma once

#include "common/base/result.h"
#include "common/contract/session_conf.h"
#include "common/contract/session_request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// With the terminal, where there is one.
SessionRequest attach_request(std::uint32_t job,
                              std::vector<std::string> command);

// Until the command ends, or slurmk8sd refuses it.
Result<SessionEnd> attach_to(const SessionConf &conf,
                             const SessionRequest &request);

// The shell that there is, with our TERM.
std::vector<std::string> shell_command();

} // namespace bridge
