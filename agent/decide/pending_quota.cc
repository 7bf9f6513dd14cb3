// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/pending_quota.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr unsigned part = 5; // a fifth is a share, and a fifth the reserve

} // namespace

void PendingQuota::set_limits(Limits limits)
{
    limits_ = limits;
    changed_ = true;
}

void PendingQuota::set_namespaces(std::size_t count)
{
    constexpr std::size_t most = 1000000; // more than any cluster has
    namespaces_ =
        static_cast<unsigned>(std::clamp<std::size_t>(count, 1, most));
    changed_ = true;
}

PendingQuota::Line &PendingQuota::line_of(Queue &queue, const Gang &gang)
{
    return gang.by_wish ? queue.wishing_line : queue.line;
}

void PendingQuota::start_counting(Gang &gang)
{
    Queue &queue = queues_[gang.ns];
    line_of(queue, gang).erase(gang.place);
    queue.counted++;
    queue.by_wish += gang.by_wish;
    counted_++;
    gang.counts = true;
}

// A gang in line changes to the other line, and keeps its place there.
void PendingQuota::set_by_wish(Gang &gang, bool by_wish)
{
    if (gang.by_wish == by_wish)
        return;
    Queue &queue = queues_.at(gang.ns);
    if (gang.counts) {
        queue.by_wish += by_wish;
        queue.by_wish -= gang.by_wish;
    } else {
        line_of(queue, gang).erase(gang.place);
    }
    gang.by_wish = by_wish;
    if (!gang.counts)
        line_of(queue, gang).emplace(gang.place, gang.place.second);
    changed_ = true;
}

void PendingQuota::count(const Asker &asker)
{
    auto [known, added] = gangs_.try_emplace(
        asker.uid,
        Gang{asker.ns, {asker.created, asker.uid}, asker.by_wish, false});
    if (!added)
        set_by_wish(known->second, asker.by_wish);
    if (!known->second.counts)
        start_counting(known->second);
}

void PendingQuota::leave(const std::string &uid)
{
    auto known = gangs_.find(uid);
    if (known == gangs_.end())
        return;
    const Gang &gang = known->second;
    auto queue = queues_.find(gang.ns);
    if (gang.counts) {
        queue->second.counted--;
        queue->second.by_wish -= gang.by_wish;
        counted_--;
        changed_ = true;
    } else {
        line_of(queue->second, gang).erase(gang.place);
    }
    if (queue->second.counted == 0 && queue->second.line.empty() &&
        queue->second.wishing_line.empty())
        queues_.erase(queue);
    gangs_.erase(known);
}

// Nobody overtakes gangs that are in line already, except those that only wait
// for the share of jobs that wait by their own wish.
bool PendingQuota::is_first(const Asker &asker) const
{
    auto queue = queues_.find(asker.ns);
    if (queue == queues_.end())
        return true;
    if (!queue->second.line.empty())
        return false;
    return queue->second.wishing_line.empty() ||
           (!asker.by_wish && full(asker.ns, true) != Full::nothing);
}

bool PendingQuota::may_ask(const Asker &asker)
{
    auto known = gangs_.find(asker.uid);
    if (known != gangs_.end()) {
        set_by_wish(known->second, asker.by_wish);
        return known->second.counts;
    }
    if (is_first(asker) && full(asker.ns, asker.by_wish) == Full::nothing) {
        count(asker);
        return true;
    }
    Gang gang{asker.ns, {asker.created, asker.uid}, asker.by_wish, false};
    line_of(queues_[asker.ns], gang).emplace(gang.place, asker.uid);
    gangs_.emplace(asker.uid, std::move(gang));
    return false;
}

unsigned PendingQuota::share() const
{
    if (limits_.in_namespace)
        return *limits_.in_namespace;
    return limits_.all == 0 ? 0 : std::max(limits_.all / part, 1u);
}

unsigned PendingQuota::reserve() const
{
    return limits_.in_namespace == 0u ? 0 : limits_.all / part;
}

// Returns how many jobs a namespace may have if it is to get another one now;
// 0: any number.
unsigned PendingQuota::limit_now() const
{
    if (reserve() == 0 || counted_ < limits_.all - reserve())
        return share();
    unsigned own = std::max(reserve() / namespaces_, 1u);
    return share() == 0 ? own : std::min(own, share());
}

PendingQuota::Full PendingQuota::full(const std::string &ns, bool by_wish) const
{
    static const Queue none;
    auto known = queues_.find(ns);
    const Queue &queue = known == queues_.end() ? none : known->second;
    const unsigned limit = limit_now();
    if (share() != 0 && queue.counted >= share())
        return Full::in_namespace;
    if (by_wish && limit != 0 && queue.by_wish >= std::max(limit / 2, 1u))
        return Full::by_wish;
    if ((limits_.all != 0 && counted_ >= limits_.all) ||
        (limit != 0 && queue.counted >= limit))
        return Full::all;
    return Full::nothing;
}

// Returns the line whose first gang is to be admitted next, or null if none may
// be admitted.
const PendingQuota::Line *PendingQuota::next_line() const
{
    const Line *next = nullptr;
    unsigned fewest = 0; // jobs in Slurm of that namespace
    for (const auto &[ns, queue] : queues_)
        for (bool by_wish : {false, true}) {
            const Line &line = by_wish ? queue.wishing_line : queue.line;
            if (line.empty() || full(ns, by_wish) != Full::nothing)
                continue;
            bool before = !next || queue.counted < fewest ||
                          (queue.counted == fewest &&
                           line.begin()->first < next->begin()->first);
            if (before) {
                next = &line;
                fewest = queue.counted;
            }
        }
    return next;
}

std::vector<std::string> PendingQuota::admit()
{
    std::vector<std::string> admitted;
    if (in_line() == 0 || !std::exchange(changed_, false))
        return admitted;
    while (const Line *line = next_line()) {
        std::string uid = line->begin()->second;
        start_counting(gangs_.at(uid));
        admitted.push_back(std::move(uid));
    }
    return admitted;
}

bool PendingQuota::is_in_line(const std::string &uid) const
{
    auto known = gangs_.find(uid);
    return known != gangs_.end() && !known->second.counts;
}

} // namespace bridge
