// SPDX-License-Identifier: GPL-2.0-or-later
// The Burst lines of k8s.conf(5): in which other partition the plain batch jobs
// of a partition may start, too.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BurstRule {
    std::string from; // the partition of the jobs
    std::string to;   // the partition that is added

    bool operator==(const BurstRule &) const = default;

    // Returns the rule as k8s.conf has it: "main:burst".
    std::string text() const { return from + ":" + to; }
};

// Adds the rule of a text such as "main:burst". Code::rejected, with the
// reason, if the text is no rule or is there already.
Result<> add_burst_rule(std::vector<BurstRule> &rules, std::string_view text);

} // namespace bridge
