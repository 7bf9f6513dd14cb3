// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/burst_rule.h"

#include "common/base/text.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// Slurm separates names of partitions by commas.
bool is_partition_name(std::string_view name)
{
    return !name.empty() && name.find_first_of(", \t\"'=") == name.npos;
}

} // namespace

Result<> add_burst_rule(std::vector<BurstRule> &rules, std::string_view text)
{
    auto parts = all_parts(text, ':');
    if (parts.size() != 2 || !is_partition_name(parts[0]) ||
        !is_partition_name(parts[1]))
        return fail(Code::rejected, "must be PARTITION:PARTITION");
    BurstRule rule{std::string(parts[0]), std::string(parts[1])};
    if (rule.from == rule.to)
        return fail(Code::rejected,
                    "names partition \"" + rule.from + "\" on both sides");
    if (std::ranges::contains(rules, rule))
        return fail(Code::rejected, "has " + rule.text() + " twice");
    rules.push_back(std::move(rule));
    return {};
}

} // namespace bridge
