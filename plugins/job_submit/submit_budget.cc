// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/submit_budget.h"

#include <algorithm>

namespace bridge {

bool SubmitBudget::take(std::uint32_t user, std::size_t size, Time now)
{
    std::lock_guard lock(mutex_);
    auto is_over = [&](const Use &use) { return now - use.since >= window; };
    if (now - cleaned_ >= window) {
        std::erase_if(uses_,
                      [&](const auto &one) { return is_over(one.second); });
        cleaned_ = now;
    }
    Use &use = uses_.try_emplace(user, Use{now}).first->second;
    if (is_over(use))
        use = {now};
    const std::size_t cost = std::max(size, block);
    if (use.files == files || cost > bytes - use.size)
        return false;
    use.size += cost;
    use.files++;
    return true;
}

} // namespace bridge
