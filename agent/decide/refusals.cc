// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/refusals.h"

#include <algorithm>

namespace bridge {

namespace {

Refusals::Duration times(Refusals::Duration one, std::size_t count)
{
    return one * static_cast<Refusals::Duration::rep>(count);
}

} // namespace

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

// Returns how many namespaces share what `full_share` of them may have, as a
// multiple of that, rounded up.
std::size_t Refusals::shares() const
{
    return std::max<std::size_t>((counts_.size() + full_share - 1) / full_share,
                                 1);
}

Refusals::Duration Refusals::pause(const std::string &ns) const
{
    auto count = counts_.find(ns);
    return count == counts_.end()
               ? Duration(0)
               : std::max(times(spacing, count->second),
                          times(spacing / full_share, gangs_.size()));
}

Refusals::Duration Refusals::turn(std::size_t index) const
{
    const std::size_t first = std::max<std::size_t>(at_once / shares(), 1);
    return index < first ? Duration(0)
                         : times(spacing, (index - first + 1) * shares());
}

} // namespace bridge
