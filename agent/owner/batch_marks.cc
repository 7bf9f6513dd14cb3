// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/batch_marks.h"

#include "agent/decide/batch_gang.h"
#include "agent/gang/batch_place.h"

#include <algorithm>

namespace bridge {

std::optional<BatchMark> mark_of(const Gang &gang, const Conf &conf)
{
    if (gang.pods.empty() || !is_batch_namespace(conf, gang.key.ns))
        return std::nullopt;
    const Pod &first = *gang.pods.front();
    return gang.grouped && !batch_place(first) ? std::nullopt
                                               : batch_mark(first);
}

std::map<JobRef, GangTag> bound_batch_pods(const GangStore &gangs,
                                           const Conf &conf)
{
    std::map<JobRef, GangTag> tags;
    auto is_bound = [](const PodPtr &pod) {
        return pod->bound() && binder_of(*pod);
    };
    for (const auto &[uid, entry] : gangs.all()) {
        const Gang &gang = entry.gang;
        auto mark = mark_of(gang, conf);
        if (!mark || std::ranges::none_of(gang.pods, is_bound))
            continue;
        auto place = batch_place(*gang.pods.front());
        // A worker that was split from the others has a job of its own.
        if (!gang.grouped && place && place->rank != 0)
            continue;
        GangTag &tag = tags[mark->job];
        tag = {.gang = gang.key.str(), .uid = uid, .script = mark->script};
        if (gang.grouped)
            tag.first =
                place->first.empty() ? gang.pods.front()->uid : place->first;
    }
    return tags;
}

} // namespace bridge
