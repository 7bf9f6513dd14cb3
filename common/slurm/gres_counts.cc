// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/gres_counts.h"

#include "common/base/text.h"

#include <algorithm>
#include <optional>

namespace bridge {

GresCounts asked_gres(std::string_view text)
{
    GresCounts counts;
    while (!text.empty()) {
        std::string_view one = next_part(text, ',');
        if (!one.starts_with("gres/") && !one.starts_with("gres:"))
            continue;
        one.remove_prefix(5); // slurmctld may write ':' for '/'
        std::size_t last = one.rfind(':');
        auto count = last == one.npos
                         ? std::nullopt
                         : whole_number<std::uint64_t>(one.substr(last + 1));
        std::string_view kind = count ? one.substr(0, last) : one;
        counts[std::string(kind.substr(0, kind.find(':')))] +=
            count.value_or(1);
        if (kind.contains(':'))
            counts[std::string(kind)] += count.value_or(1);
    }
    return counts;
}

std::uint64_t tasks_covered(const std::vector<JobGres> &has,
                            const GresCounts &by_task)
{
    GresCounts counts;
    for (const JobGres &one : has) {
        counts[one.gres] += one.count;
        if (!one.type.empty())
            counts[one.gres + ":" + one.type] += one.count;
    }
    std::uint64_t tasks = no_task_limit;
    for (const auto &[kind, count] : by_task)
        if (count != 0)
            tasks = std::min(tasks, counts[kind] / count);
    return tasks;
}

} // namespace bridge
