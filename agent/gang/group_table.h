// SPDX-License-Identifier: GPL-2.0-or-later
// The objects that define the size of gangs, as far as they have been listed,
// and which of their APIs the server has. Not thread-safe. Pure.
#pragma once

#include "agent/objects/gang_key.h"
#include "agent/objects/group_spec.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class GroupTable {
  public:
    // wanted: the APIs that are watched. All others are off.
    explicit GroupTable(std::set<GroupApi> wanted) : unknown_(std::move(wanted))
    {
    }

    // Whether it is known for each watched API if the server has it, and all
    // its objects were listed.
    bool settled() const { return unknown_.empty(); }
    bool is_on(GroupApi api) const { return on_.contains(api); }

    // The server has the API, with these objects; or it does not have it.
    void replace(GroupApi api, std::vector<GroupSpec> specs);
    void turn_off(GroupApi api);
    // Returns whether this changes anything for its gang.
    bool put(GroupSpec spec);
    bool erase(const GroupSpec &spec);

    // Returns null if there is none.
    const GroupSpec *find(const std::string &ns, const GroupRef &ref) const;

    // Returns the first gang that the Pod names whose API exists and whose
    // object does not rule it out, or null if the Pod is alone. A Pod on a node
    // keeps the gang that it had when it was bound.
    GangKeyPtr choose_gang(const Pod &pod) const;
    // Returns the APIs that the server does not have and whose gangs this Pod,
    // not on a node yet, names before that one.
    std::vector<GroupApi> absent_before(const Pod &pod) const;

  private:
    using Key = std::pair<std::string, GroupRef>; // namespace and group

    void forget(GroupApi api);
    bool is_no_gang(const Pod &pod, const GangKey &key) const;

    std::set<GroupApi> unknown_;
    std::set<GroupApi> on_;
    std::map<Key, GroupSpec> specs_;
};

} // namespace bridge
