// SPDX-License-Identifier: GPL-2.0-or-later
// A job's constraint on features: what a user asks for, joined with what its
// Pods need of their nodes. For the agent, and for job_submit/k8s. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Why a user's constraint cannot be joined with ours, after "must "; empty: it
// can. Features joined by '&' or '|', or groups of them in parentheses joined
// by
// '&': Slurm nests no parentheses, and forms with brackets or counts choose
// among nodes in ways that hold for a whole constraint only.
std::string constraint_objection(std::string_view users);

// "(USERS)&OURS&OURS…", for what has no objection; users may be empty.
std::string join_constraints(std::string_view users,
                             const std::vector<std::string> &ours);

} // namespace bridge
