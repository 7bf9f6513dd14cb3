// SPDX-License-Identifier: GPL-2.0-or-later
// The groups of the partitions that Burst rules add, inside slurmctld. A thread
// of its own looks them up, without slurmctld's locks; it begins when there is
// the first such group, and never ends: slurmctld ends with exit(0) while it is
// running. No other thread waits for the user database.
#pragma once

#include "plugins/job_submit/group_book.h"

#include <set>
#include <string>

namespace bridge {

// What is known. Never destroyed.
GroupBook &burst_groups();

// Has these groups looked up from now on. For one thread, which must not be one
// that calls a hook. Throws if the look-ups' thread cannot be started.
void watch_burst_groups(const std::set<std::string> &groups);

} // namespace bridge
