// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/sync_times.h"

#include <algorithm>
#include <utility>

namespace bridge {

void SyncTimes::sync_now()
{
    changed_ = true;
    due_ = context_.now;
}

void SyncTimes::sync_by(Clock::time_point when)
{
    due_ = changed_ ? std::min(due_, when) : when;
    changed_ = true;
}

void SyncTimes::retry_in(Clock::duration pause)
{
    if (std::exchange(changed_, true))
        return;
    due_ = context_.now + pause;
}

Clock::time_point SyncTimes::next() const
{
    if (under_way_)
        return Clock::time_point::max();
    return std::min(changed_ ? std::min(due_, poll_due_) : poll_due_, later_);
}

bool SyncTimes::begin()
{
    under_way_ = true;
    began_ = context_.now;
    bool changed = (changed_ && due_ <= context_.now) || later_ <= context_.now;
    if (changed) {
        changed_ = false;
        later_ = Clock::time_point::max();
    }
    return changed;
}

void SyncTimes::end()
{
    under_way_ = false;
    poll_due_ = context_.now + context_.conf->node_interval;
}

void SyncTimes::failed(Clock::duration pause)
{
    end();
    changed_ = true;
    due_ = context_.now + pause;
    poll_due_ = std::max(poll_due_, due_);
    rest_until(due_);
}

// What sync_at() has asked for does not come before.
void SyncTimes::rest_until(Clock::time_point when)
{
    if (later_ != Clock::time_point::max())
        later_ = std::max(later_, when);
}

// In a busy cluster one comparison takes all changes that have arrived; it must
// not occupy slurmctld and a worker all the time.
void SyncTimes::succeeded()
{
    end();
    const Clock::time_point rested = context_.now + (context_.now - began_);
    if (changed_)
        due_ = std::max(due_, rested);
    rest_until(rested);
}

} // namespace bridge
