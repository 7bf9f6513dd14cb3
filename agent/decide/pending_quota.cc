// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/pending_quota.h"

namespace bridge {

void PendingQuota::start_counting(Gang &gang)
{
    Queue &queue = queues_[gang.ns];
    queue.line.erase(gang.place);
    queue.counted++;
    counted_++;
    gang.counts = true;
}

void PendingQuota::count(const Asker &asker)
{
    auto [known, added] = gangs_.try_emplace(
        asker.uid, Gang{asker.ns, {asker.created, asker.uid}, false});
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
        counted_--;
    } else {
        queue->second.line.erase(gang.place);
    }
    if (queue->second.counted == 0 && queue->second.line.empty())
        queues_.erase(queue);
    gangs_.erase(known);
}

bool PendingQuota::may_ask(const Asker &asker)
{
    auto known = gangs_.find(asker.uid);
    if (known != gangs_.end())
        return known->second.counts;
    // Nobody overtakes gangs that are in line already.
    auto queue = queues_.find(asker.ns);
    bool first = queue == queues_.end() || queue->second.line.empty();
    if (first && full(asker.ns) == Full::nothing) {
        count(asker);
        return true;
    }
    Place place{asker.created, asker.uid};
    queues_[asker.ns].line.emplace(place, asker.uid);
    gangs_.emplace(asker.uid, Gang{asker.ns, std::move(place), false});
    return false;
}

PendingQuota::Full PendingQuota::full(const std::string &ns) const
{
    if (limits_.all != 0 && counted_ >= limits_.all)
        return Full::all;
    auto queue = queues_.find(ns);
    if (limits_.in_namespace != 0 && queue != queues_.end() &&
        queue->second.counted >= limits_.in_namespace)
        return Full::in_namespace;
    return Full::nothing;
}

// Returns the queue to admit from next, or null if none may be admitted.
PendingQuota::Queue *PendingQuota::next_queue()
{
    Queue *next = nullptr;
    for (auto &[ns, queue] : queues_) {
        if (queue.line.empty() || full(ns) != Full::nothing)
            continue;
        bool before = !next || queue.counted < next->counted ||
                      (queue.counted == next->counted &&
                       queue.line.begin()->first < next->line.begin()->first);
        if (before)
            next = &queue;
    }
    return next;
}

std::vector<std::string> PendingQuota::admit()
{
    std::vector<std::string> admitted;
    if (in_line() == 0)
        return admitted;
    while (Queue *queue = next_queue()) {
        std::string uid = queue->line.begin()->second;
        start_counting(gangs_.at(uid));
        admitted.push_back(std::move(uid));
    }
    return admitted;
}

} // namespace bridge
