// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of groups as slurmctld makes them for AllowGroups: groups.c and
// validate_group() in partition_mgr.c. May block on a directory server.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

// Returns the users whom a group lists, and those of /etc/passwd whose primary
// group it is; nobody if there is no such group. slurmctld finds these at
// least: it lists all users of all sources, in so far as they allow that. A
// second thread of its process must not, as getpwent(3) has one position for
// both.
Result<std::vector<std::uint32_t>>
look_up_members(const std::string &group,
                const char *password_file = "/etc/passwd");

// Returns the name of a user's primary group; empty if there is no such user or
// group.
Result<std::string> look_up_primary_group(std::uint32_t user);

} // namespace bridge
