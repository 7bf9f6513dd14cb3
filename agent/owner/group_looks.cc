// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/group_looks.h"

namespace bridge {

GroupLooks::Number GroupLooks::ask(GroupApi api)
{
    std::lock_guard lock(mutex_);
    Looks &looks = looks_[api];
    if (looks.asked == looks.begun) {
        looks.asked++;
        changed_.notify_all();
    }
    return looks.asked;
}

GroupLooks::Number GroupLooks::begin(GroupApi api,
                                     std::chrono::milliseconds distance,
                                     const std::stop_token &stop)
{
    std::unique_lock lock(mutex_);
    Looks &looks = looks_[api];
    if (looks.last)
        changed_.wait_until(lock, stop, *looks.last + distance,
                            [] { return false; });
    looks.last = Clock::now();
    return looks.begun = looks.asked;
}

void GroupLooks::wait(GroupApi api, std::chrono::milliseconds interval,
                      const std::stop_token &stop)
{
    std::unique_lock lock(mutex_);
    Looks &looks = looks_[api];
    changed_.wait_for(lock, stop, interval,
                      [&] { return looks.asked != looks.begun; });
}

} // namespace bridge
