// SPDX-License-Identifier: GPL-2.0-or-later
// The condition Agent of a Controller: what the slurmk8sd beside its slurmctld
// serves. The k8s.conf that it has read counts, not the one that it is to read,
// so that nobody takes away rights that it still uses. Pure.
//
//   status   reason     slurmk8sd
//   -------  ---------  ----------------------------------------------------
//   True     Workers    answers for the workers of its namespace
//   True     Bridge     does so, and Slurm schedules Pods of this Kubernetes
//   Unknown  Changes    is to become the one of these that it is not yet
//   False    NoPlugins  is as it was: slurmctld lacks what the bridge needs
//   False    NoImage    is not there
#pragma once

#include "operator/decide/config_state.h"
#include "operator/decide/objects.h"
#include "operator/decide/status.h"

namespace bridge::slinky {

Said agent_said(const Known &known, const Controller &controller,
                const ConfigState &config);

} // namespace bridge::slinky
