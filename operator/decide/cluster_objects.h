// SPDX-License-Identifier: GPL-2.0-or-later
// What is made for a slurmctld beside its StatefulSet and its files: addresses,
// and the rights of slurmk8sd, which are of its own namespace only. Pure.
#pragma once

#include "operator/decide/made.h"
#include "operator/decide/objects.h"

#include <vector>

namespace bridge::slinky {

// ServiceAccount, Role and RoleBinding. The operator has each of these rights
// itself: otherwise it could not give them.
std::vector<Wanted> agent_rights(const Controller &controller);

// The Service by which everybody reaches slurmctld, and the headless one that
// gives its Pod a name.
Wanted controller_address(const Controller &controller);
Wanted controller_names(const Controller &controller);

} // namespace bridge::slinky
