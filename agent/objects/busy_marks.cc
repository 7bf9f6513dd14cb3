// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/busy_marks.h"

namespace bridge {

BusyMarks plan_busy_marks(std::span<const BusyMark> marks,
                          const std::function<bool(const char *)> &has,
                          const std::string &own, bool busy)
{
    BusyMarks plan;
    for (const auto &[name, value] : marks) {
        bool was_ours = own.contains(name);
        if (!busy && was_ours)
            plan.changes.emplace_back(name, std::nullopt);
        if (busy && (was_ours || !has(name))) {
            plan.changes.emplace_back(name, value);
            plan.own += (plan.own.empty() ? "" : ",") + std::string(name);
        }
    }
    return plan;
}

} // namespace bridge
