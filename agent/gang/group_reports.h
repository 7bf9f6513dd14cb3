// SPDX-License-Identifier: GPL-2.0-or-later
// Which PodGroups of scheduler-plugins get a status from us, and when. Their
// Pods are counted as they change. A status is written where nobody else writes
// it: the controller of that project has had its time, and has said nothing.
// Only what has changed is written, at most once a second for each, and nothing
// before a Pod of ours names it. Not safe from other threads.
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
    // The Pod's latest state; its gang must still be all that it names.
    void put(const Pod &pod, Clock::time_point now);
    void remove(const std::string &pod, Clock::time_point now); // a uid

    // An object is there, new or changed; it is gone; these are all there are.
    // Those of other APIs are passed over.
    void put(const GroupSpec &group, Clock::time_point now);
    void erase(const GroupSpec &group);
    void replace(const std::vector<GroupSpec> &groups, Clock::time_point now);

    // What is to be written now. groups: as they are known.
    std::vector<GroupPatch> take_due(const GroupTable &groups,
                                     Clock::time_point now);
    // What became of it; must be called for each that was taken.
    void done(const GroupPatch &patch, const Result<> &said,
              Clock::time_point now);
    Clock::time_point next_due() const; // max: never

  private:
    struct Group {
        PodGroupCounts counts;
        std::string owner;         // of the Pod that came last
        std::string uid;           // of the object; empty: there is none
        bool named = false;        // by a Pod of ours, while it was there
        Clock::time_point since{}; // when it became known
        Clock::time_point next{};  // no write before
        std::optional<Clock::time_point> due; // as in queue_
        bool in_flight = false;
        // The version that was changed last: a newer one comes by the watch.
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
