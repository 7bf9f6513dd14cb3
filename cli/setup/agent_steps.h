// SPDX-License-Identifier: GPL-2.0-or-later
// The agent and its nodes in Slurm, for uninstall: the agent itself takes the
// nodes out of Slurm, and must run until then.
#pragma once

#include "cli/setup/report.h"
#include "cli/setup/site.h"

#include <string>
#include <vector>

namespace bridge {

bool agent_runs(const Site &site);

// Returns the external nodes that the agent has made and not deleted yet,
// separated by commas.
std::string agent_nodes(const std::vector<SlurmNode> &nodes);

// Waits until the agent has deleted them, once their Nodes have no label. Fails
// when it takes too long; without an agent it says what is left.
Result<> wait_for_nodes(const Site &site, const Report &report);

// Stops the agent if systemd runs it. Fails if it still runs then.
Result<> stop_agent(const Site &site, const Report &report);

} // namespace bridge
