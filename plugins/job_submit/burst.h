// SPDX-License-Identifier: GPL-2.0-or-later
// Bursting: in which partitions a plain batch job may start besides the one
// that it asks for, by the Burst lines of k8s.conf. Pure: values in, a decision
// out.
#pragma once

#include "common/contract/burst_rule.h"
#include "plugins/job_submit/burst_fit.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace bridge {

// Tells whether the job has --k8s-no-burst.
bool says_no_burst(std::span<char *const> spank_job_env);

// Returns why a job is none of those that the rules are for, as a phrase such
// as "it is part of a heterogeneous job"; empty if it is one.
std::string not_plain_reason(const job_desc_msg_t &desc);

struct BurstDecision {
    std::string own;                  // the job's partition
    std::vector<BurstRule> taken;     // whose partitions are added, in order
    std::vector<std::string> left;    // why others are not, for a log
    std::vector<std::string> unknown; // partitions of rules that do not exist

    bool operator==(const BurstDecision &) const = default;
};

// Decides for a plain job. Jobs without a partition are in the default one.
BurstDecision decide_burst(const job_desc_msg_t &desc,
                           std::span<const BurstRule> rules,
                           const NodeView &view, const BurstFacts &facts);

// Returns the groups that the partitions which rules add allow.
std::set<std::string> groups_of(std::span<const BurstRule> rules,
                                const NodeView &view);

// Returns the job's partitions: "main,burst".
std::string partitions_of(const BurstDecision &decision);

// Returns the sentence for the user, about partitions that are added.
std::string burst_message(const BurstDecision &decision);

} // namespace bridge
