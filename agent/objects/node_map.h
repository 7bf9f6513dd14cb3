// SPDX-License-Identifier: GPL-2.0-or-later
// Which Node stands behind which Slurm node.
#pragma once

#include <map>
#include <string>

namespace bridge {

// The name of the Kubernetes Node, by the name of the Slurm node.
using NodeMap = std::map<std::string, std::string>;

} // namespace bridge
