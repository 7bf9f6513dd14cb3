// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/gang_turns.h"

namespace bridge {

namespace {

constexpr unsigned most_in_a_row = 3; // with nodes, while others wait

// Returns the first behind the key, or the first of all. Requires that there is
// one.
template <class Container> auto after(Container &all, const std::string &key)
{
    auto found = all.upper_bound(key);
    return found == all.end() ? all.begin() : found;
}

} // namespace

void GangTurns::add(const std::string &ns, const std::string &uid, bool placed)
{
    OfNamespace &own = by_ns_[ns];
    (placed ? own.waiting : own.placed).uids.erase(uid);
    (placed ? own.placed : own.waiting).uids.insert(uid);
}

GangTurns::Line &GangTurns::next_line(OfNamespace &own)
{
    bool placed =
        !own.placed.uids.empty() &&
        (own.waiting.uids.empty() || own.placed_in_a_row < most_in_a_row);
    own.placed_in_a_row = placed ? own.placed_in_a_row + 1 : 0;
    return placed ? own.placed : own.waiting;
}

std::optional<std::string> GangTurns::next()
{
    if (by_ns_.empty())
        return std::nullopt;
    auto ns = after(by_ns_, last_ns_);
    last_ns_ = ns->first;
    OfNamespace &own = ns->second;
    Line &line = next_line(own);
    auto first = after(line.uids, line.last);
    line.last = *first;
    line.uids.erase(first);
    std::string uid = line.last;
    if (own.placed.uids.empty() && own.waiting.uids.empty())
        by_ns_.erase(ns);
    return uid;
}

} // namespace bridge
