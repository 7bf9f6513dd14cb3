// SPDX-License-Identifier: GPL-2.0-or-later
// k8s.conf of the slurmk8sd beside a slurmctld that the operator runs. Without
// the bridge slurmk8sd serves the workers of its namespace only. With it, Slurm
// schedules Pods of this Kubernetes, too, and the site may add lines, which are
// checked as slurmk8sd reads them: it does not start with a mistake. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>
#include <string_view>

namespace bridge::slinky {

inline constexpr char k8s_conf_file[] = "k8s.conf";

// With the bridge, slurmctld sends it to slurmd, too. What has no such plugin
// goes on without it; the others know sbatch --k8s-image.
inline constexpr char plugstack_file[] = "plugstack.conf";
inline constexpr char plugstack_conf[] = "optional spank_k8s.so\n";

// Whether the Controller asks for the bridge, and whether it gets it, for which
// slurmctld has to load our plugins.
bool wants_bridge(const Controller &controller);
bool has_bridge(const Controller &controller);

std::string k8s_conf(const Controller &controller);

// Why the lines of the site cannot be taken: a sentence with the number of the
// line, or "".
std::string k8s_conf_problem(const Controller &controller);

// Whether a slurmk8sd that has read this text schedules Pods.
bool schedules_pods(std::string_view text);

} // namespace bridge::slinky
