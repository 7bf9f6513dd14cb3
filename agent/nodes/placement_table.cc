// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/placement_table.h"

#include <algorithm>

namespace bridge {

PlacementTable::PlacementTable()
{
    entries_[value_of({}).feature()] = {};
}

void PlacementTable::share(Pod &pod)
{
    pod.predicate = share(std::move(pod.predicate));
    pod.preferred = share(std::move(pod.preferred));
}

PredicatePtr PlacementTable::share(PredicatePtr predicate)
{
    if (!predicate)
        return predicate;
    auto &known = shared_[predicate->text()];
    if (PredicatePtr first = known.lock())
        return first;
    known = predicate;
    if (shared_sweep_.is_due(shared_.size())) {
        std::erase_if(shared_,
                      [](const auto &s) { return s.second.expired(); });
        shared_sweep_.swept(shared_.size());
    }
    return predicate;
}

bool PlacementTable::has_room(const Asker &asker) const
{
    auto held = held_.find(asker.ns);
    return asker.has_job || held == held_.end() || held->second < in_namespace_;
}

bool PlacementTable::is_full(const Asker &asker) const
{
    const std::size_t used = entries_.size() - 1 // without the empty one
                             - std::min(nowhere_, max_nowhere);
    if (asker.has_job || used < max_predicates - reserve)
        return false;
    auto held = held_.find(asker.ns);
    return used >= max_predicates ||
           (held != held_.end() &&
            held->second >= std::max<std::size_t>(reserve / namespaces_, 1));
}

PlacementTable::State PlacementTable::need(const PredicatePtr &predicate,
                                           const Asker &asker,
                                           Clock::time_point now)
{
    auto known = entries_.find(value_of(predicate).feature());
    bool fresh = known == entries_.end();
    if (!fresh && known->second.predicate != predicate &&
        value_of(known->second.predicate) != value_of(predicate))
        // Two predicates have the same hash: the first keeps it.
        return State::full;
    if (!predicate)
        return state_of(known->second);
    bool counted = !fresh && known->second.needed.contains(asker.ns);
    if (!counted && !has_room(asker))
        return State::full_in_namespace;
    if (fresh && is_full(asker))
        return State::full;
    if (fresh) {
        known = entries_.emplace(predicate->feature(), Entry{predicate, {}, {}})
                    .first;
        new_ = true;
    }
    held_[asker.ns] += !counted;
    known->second.needed[asker.ns] = now;
    return state_of(known->second);
}

PlacementTable::State PlacementTable::state_of(const Entry &entry)
{
    if (!entry.nodes)
        return State::unknown;
    return *entry.nodes == 0 ? State::nowhere : State::ready;
}

std::vector<PredicatePtr> PlacementTable::wishes() const
{
    std::vector<PredicatePtr> wishes;
    for (const auto &[feature, entry] : entries_)
        wishes.push_back(entry.predicate);
    return wishes;
}

bool PlacementTable::take(const std::vector<PredicatePtr> &wishes,
                          const std::map<std::string, std::size_t> &nodes,
                          bool all)
{
    doubted_ = false;
    bool changed = false;
    for (const PredicatePtr &wish : wishes) {
        const std::string &feature = value_of(wish).feature();
        auto known = entries_.find(feature);
        if (known == entries_.end())
            continue;
        State before = state_of(known->second);
        auto found = nodes.find(feature);
        if (found != nodes.end())
            known->second.nodes = found->second;
        else
            known->second.nodes =
                all ? std::optional<std::size_t>(0) : std::nullopt;
        changed |= before != state_of(known->second);
    }
    count_nowhere();
    return changed;
}

void PlacementTable::count_nowhere()
{
    nowhere_ = static_cast<std::size_t>(
        std::ranges::count_if(entries_, [](const auto &known) {
            return known.second.predicate &&
                   state_of(known.second) == State::nowhere;
        }));
}

bool PlacementTable::drop_unused(Clock::time_point now, Clock::duration linger)
{
    bool dropped = false;
    for (auto &[feature, entry] : entries_)
        std::erase_if(entry.needed, [&](const auto &one) {
            if (now - one.second < linger)
                return false;
            if (auto held = held_.find(one.first); --held->second == 0)
                held_.erase(held);
            return dropped = true;
        });
    std::erase_if(entries_, [](const auto &known) {
        return known.second.predicate && known.second.needed.empty();
    });
    count_nowhere();
    return dropped;
}

Clock::time_point PlacementTable::next_drop(Clock::duration linger) const
{
    Clock::time_point next = Clock::time_point::max();
    for (const auto &[feature, entry] : entries_)
        for (const auto &[ns, when] : entry.needed)
            next = std::min(next, when + linger);
    return next;
}

} // namespace bridge
