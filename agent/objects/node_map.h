// SPDX-License-Identifier: GPL-2.0-or-later
// Maps Slurm nodes to Kubernetes Nodes. Values only.
#pragma once

#include <map>
#include <string>

namespace bridge {

// The name of the Kubernetes Node for the name of each Slurm node.
using NodeMap = std::map<std::string, std::string>;

} // namespace bridge
