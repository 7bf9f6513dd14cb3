// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/rests.h"

#include <algorithm>
#include <utility>

namespace bridge::slinky {

void Rests::failed(const Meta &about, Failures failures, Clock::time_point now)
{
    Rest &rest = rests_[about.uid];
    if (rest.generation != about.generation)
        rest.backoff.reset();
    rest.generation = about.generation;
    rest.failures = std::move(failures);
    rest.until = now + rest.backoff.next(random_);
}

bool Rests::holds(const Meta &about, Clock::time_point now) const
{
    auto found = rests_.find(about.uid);
    return found != rests_.end() && now < found->second.until &&
           found->second.generation == about.generation;
}

const Failures &Rests::failures(const std::string &uid) const
{
    static const Failures none;
    auto found = rests_.find(uid);
    return found == rests_.end() ? none : found->second.failures;
}

std::optional<Clock::time_point> Rests::next_end(Clock::time_point now) const
{
    std::optional<Clock::time_point> end;
    for (const auto &[uid, rest] : rests_)
        if (rest.until > now)
            end = end ? std::min(*end, rest.until) : rest.until;
    return end;
}

} // namespace bridge::slinky
