// SPDX-License-Identifier: GPL-2.0-or-later
// What a plugin knows of the daemon's slurm.conf.
#pragma once

#include <string>

extern "C" {
#include <slurm/slurm.h>

// The daemon's configuration; its type is public, its declaration is not.
[[gnu::weak]] extern slurm_conf_t slurm_conf;
}

namespace bridge {

// k8s.conf beside slurm.conf, wherever this daemon found that.
std::string k8s_conf_path();

} // namespace bridge
