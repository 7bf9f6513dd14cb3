// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/refusals.h"

namespace bridge {

void Refusals::add(const std::string &uid, const std::string &ns,
                   const std::string &sentence)
{
    remove(uid);
    gangs_.emplace(uid, Place{ns, sentence});
    uids_[ns][sentence].insert(uid);
    counts_[ns]++;
}

void Refusals::remove(const std::string &uid)
{
    auto known = gangs_.find(uid);
    if (known == gangs_.end())
        return;
    const auto &[ns, sentence] = known->second;
    auto &sentences = uids_.at(ns);
    auto same = sentences.find(sentence);
    same->second.erase(uid);
    if (same->second.empty())
        sentences.erase(same);
    if (--counts_.at(ns) == 0) {
        counts_.erase(ns);
        uids_.erase(ns);
    }
    gangs_.erase(known);
}

std::vector<std::string> Refusals::accept(const std::string &uid)
{
    auto known = gangs_.find(uid);
    if (known == gangs_.end())
        return {};
    std::set<std::string> same =
        uids_.at(known->second.ns).at(known->second.sentence);
    remove(uid);
    same.erase(uid);
    // Each is released once: it counts again if it is refused again.
    for (const std::string &other : same)
        remove(other);
    return {same.begin(), same.end()};
}

Refusals::Duration Refusals::pause(const std::string &ns) const
{
    auto count = counts_.find(ns);
    return count == counts_.end()
               ? Duration(0)
               : spacing * static_cast<Duration::rep>(count->second);
}

Refusals::Duration Refusals::turn(std::size_t index)
{
    return index < at_once
               ? Duration(0)
               : spacing * static_cast<Duration::rep>(index - at_once + 1);
}

} // namespace bridge
