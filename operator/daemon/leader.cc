// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/leader.h"

#include "common/base/log.h"

#include <utility>

namespace bridge::slinky {

Leader::Leader(LeaseStore &store, std::string us)
    : store_(store), us_(std::move(us))
{
}

void Leader::step(SteadyTime now, const std::string &wall_time)
{
    if (lost_)
        return;
    auto record = store_.read();
    if (!record)
        return say("the Lease cannot be read: " + record.error().message);
    if (*record != seen_ || changed_ == SteadyTime{}) {
        seen_ = *record;
        changed_ = now;
    }
    bool ours = record->holder == us_;
    if (leading_ && !ours) {
        until_ = SteadyTime{};
        lost_ = true;
        return say("another operator has taken the Lease: " + record->holder);
    }
    bool expired = now - changed_ >= record->duration;
    if (!ours && !record->holder.empty() && !expired)
        return say(record->holder + " has the Lease");
    LeaseRecord next = *record;
    if (!ours) {
        next.holder = us_;
        next.acquired = wall_time;
        next.transitions += !record->version.empty();
    }
    next.duration = lease_duration;
    next.renewed = wall_time;
    write(std::move(next), now);
}

// The Lease is trusted from when the request was sent. A conflict means that
// another one was faster: the next step reads who.
void Leader::write(LeaseRecord record, SteadyTime now)
{
    auto written = store_.write(record);
    if (!written)
        return say("the Lease cannot be written: " + written.error().message);
    seen_ = *written;
    changed_ = now;
    if (!std::exchange(leading_, true))
        log_info("acquired the Lease", {{"holder", us_}});
    until_ = now + trust;
    say({});
}

void Leader::give_back(const std::string &wall_time)
{
    until_ = SteadyTime{};
    if (!leading_ || lost_)
        return;
    LeaseRecord next = seen_;
    next.holder.clear();
    next.duration = std::chrono::seconds(1); // the shortest that is allowed
    next.renewed = wall_time;
    if (auto written = store_.write(next); !written)
        log_warning("the Lease was not given back, it will expire",
                    {{"err", written.error().message}});
}

void Leader::say(std::string words)
{
    std::lock_guard lock(mutex_);
    if (words == words_)
        return;
    words_ = std::move(words);
    if (!words_.empty())
        log_info("does not act", {{"err", words_}});
}

std::string Leader::waits_for() const
{
    std::lock_guard lock(mutex_);
    return words_;
}

} // namespace bridge::slinky
