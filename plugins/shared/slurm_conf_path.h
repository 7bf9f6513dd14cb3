// SPDX-License-Identifier: GPL-2.0-or-later
// Where a plugin finds the configuration of its daemon.
#pragma once

#include <string>

extern "C" {
#include <slurm/slurm.h>

// The daemon's configuration. Its type is public, its declaration is not.
[[gnu::weak]] extern slurm_conf_t slurm_conf;
}

namespace bridge {

// Returns the path of k8s.conf: beside slurm.conf, wherever this daemon found
// that.
std::string k8s_conf_path();

} // namespace bridge
