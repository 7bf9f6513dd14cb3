// SPDX-License-Identifier: GPL-2.0-or-later
// The Pod of a slurmctld that the operator runs, with slurmk8sd beside it, and
// the StatefulSet that keeps it. What the template says wins, except for what
// makes the Pod this Controller's, and for the token of its ServiceAccount,
// which slurmk8sd alone gets. Pure.
#pragma once

#include "operator/decide/made.h"
#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

std::string conf_name(const Controller &controller); // of its ConfigMap

// The image of slurmk8sd, or "": then nobody answers for the workers.
std::string agent_image(const Known &known, const Controller &controller);
// Whether slurmctld and slurmd have the plugins of this project.
bool loads_plugins(const Controller &controller);

// By which the Pod is selected, as slurm-operator does.
TextMap controller_selector(const Controller &controller);
TextMap controller_labels(const Controller &controller);

std::string controller_pod_name(const Controller &controller);
// The Pod of slurmctld, or nullptr.
const Daemon *slurmctld_pod(const Known &known, const Controller &controller);

// The spec of a Pod in which a slurmctld tries the files of this ConfigMap: as
// the one that serves, but with nothing of it that lasts or that others trust.
std::string trial_pod_spec(const Controller &controller,
                           const std::string &conf);

// hash: of the files. Where no slurmk8sd reconfigures slurmctld, another Pod
// reads them.
Wanted controller_set(const Known &known, const Controller &controller,
                      const std::string &hash);

} // namespace bridge::slinky
