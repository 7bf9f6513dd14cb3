// SPDX-License-Identifier: GPL-2.0-or-later
// Joins a user's constraint on features with the features that the job's Pods
// need. Used by the agent and by job_submit/k8s. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Returns the reason for which a user's constraint cannot be joined with ours,
// as the words that follow "must "; empty if it can. Accepted are features
// joined by '&' or '|', and groups of them in parentheses joined by '&'. Slurm
// does not nest parentheses, and brackets and counts select nodes in ways that
// are valid only for a whole constraint.
std::string unfit_constraint_reason(std::string_view users);

// Returns "(USERS)&OURS&OURS…". users must have passed the check above, and may
// be empty.
std::string join_constraints(std::string_view users,
                             const std::vector<std::string> &ours);

} // namespace bridge
