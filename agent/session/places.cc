// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/places.h"

namespace bridge {

std::expected<Places::Place, Places::Full> Places::take(const std::string &who,
                                                        Limit limit)
{
    std::lock_guard lock(mutex_);
    if (all_ >= most_)
        return std::unexpected(Full::of_all);
    Place place;
    place.who_ = who;
    std::size_t &has = of_each_[who];
    if (limit == Limit::of_both && has >= most_of_one_)
        return std::unexpected(Full::of_one);
    has++;
    all_++;
    place.from_ = this;
    return place;
}

void Places::give_back(const std::string &who)
{
    std::lock_guard lock(mutex_);
    all_--;
    if (auto found = of_each_.find(who);
        found != of_each_.end() && --found->second == 0)
        of_each_.erase(found);
}

} // namespace bridge
