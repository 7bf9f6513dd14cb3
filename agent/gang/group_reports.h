// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which PodGroups of scheduler-plugins get a status from the agent, and
// when. Counts their Pods as they change. A status is written only where nobody
// else writes it: where that project's controller has had time to write one and
// has not. Writes only changes, at most once a second per PodGroup, and nothing
// before a Pod of ours names it. Not thread-safe.
#pragma once

#include "agent/gang/group_table.h"
#include "agent/objects/group_spec.h"
#include "agent/objects/pod_group_status.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bridge {

class GroupReports {
  public:
    // Records the Pod's latest state. `pod.gang` must still list all groups
    // that it names.
    void put(const Pod &pod, Clock::time_point now);
    void remove(const std::string &pod, Clock::time_point now); // pod: a uid

    // An object is new or has changed; it is gone; or this is the complete
    // list. Objects of other APIs are ignored.
    void put(const GroupSpec &group, Clock::time_point now);
    void erase(const GroupSpec &group);
    void replace(const std::vector<GroupSpec> &groups, Clock::time_point now);

    // Returns the patches to write now. groups: the objects as they are known.
    std::vector<GroupPatch> pop_due(const GroupTable &groups,
                                    Clock::time_point now);
    // Reports the outcome of a patch; must be called for each that was taken.
    void done(const GroupPatch &patch, const Result<> &said,
              Clock::time_point now);
    Clock::time_point next_due() const; // max(): never

  private:
    struct Group {
        PodGroupCounts counts;
        std::string owner;         // of the latest Pod
        std::string uid;           // of the object; empty: it does not exist
        bool named = false;        // a Pod of ours has named it
        Clock::time_point since{}; // since when it is known
        Clock::time_point next{};  // earliest next write
        std::optional<Clock::time_point> due; // its time in queue_
        bool in_flight = false;
        // The resourceVersion that our last patch changed; the watch brings a
        // newer one.
        std::string written;
    };
    using Groups = std::map<ObjectKey, Group>;
    struct Member {
        ObjectKey group;
        std::string phase;
    };

    void touch(Groups::iterator group, Clock::time_point now);
    void unqueue(Groups::iterator group);
    void forget_object(Groups::iterator group);
    void drop_if_empty(Groups::iterator group);
    std::optional<GroupPatch> report(const Group &group, const GroupSpec &spec);

    Groups groups_;
    std::unordered_map<std::string, Member> members_; // by the Pod's uid
    std::set<std::pair<Clock::time_point, ObjectKey>> queue_;
};

} // namespace bridge
