// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/claim_turns.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace bridge {

namespace {

// Returns iterators to all, beginning behind the key.
template <class Container>
auto rotated(const Container &all, const std::string &key)
{
    std::vector<typename Container::const_iterator> made;
    const auto from = all.upper_bound(key);
    for (auto at = from; at != all.end(); at++)
        made.push_back(at);
    for (auto at = all.begin(); at != from; at++)
        made.push_back(at);
    return made;
}

} // namespace

std::vector<ClaimTurns::Turn> ClaimTurns::order(const Gangs &gangs)
{
    std::erase_if(last_,
                  [&](const auto &one) { return !gangs.contains(one.first); });
    std::map<std::size_t, std::vector<Turn>> by_round;
    for (const auto &ns : rotated(gangs, last_ns_)) {
        std::size_t round = 0;
        const Last &last = last_[ns->first];
        for (const auto &uid : rotated(ns->second.placed, last.placed))
            by_round[round++].push_back({ns->first, *uid, true});
        for (const auto &uid : rotated(ns->second.waiting, last.waiting))
            by_round[round++].push_back({ns->first, *uid, false});
    }
    std::vector<Turn> made;
    for (auto &[round, those] : by_round)
        std::ranges::move(those, std::back_inserter(made));
    return made;
}

void ClaimTurns::had(const Turn &turn)
{
    last_ns_ = turn.ns;
    Last &last = last_[turn.ns];
    (turn.placed ? last.placed : last.waiting) = turn.uid;
}

} // namespace bridge
