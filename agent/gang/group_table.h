// SPDX-License-Identifier: GPL-2.0-or-later
// The objects that say how large gangs are, as far as they have been listed,
// and which of their APIs the server has. Not safe from other threads. Pure.
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
    // wanted: the APIs that somebody looks for. The others are off.
    explicit GroupTable(std::set<GroupApi> wanted) : unknown_(std::move(wanted))
    {
    }

    // Of every API that is looked for it is known whether the server has it,
    // and all objects were listed.
    bool settled() const { return unknown_.empty(); }
    bool is_on(GroupApi api) const { return on_.contains(api); }

    // The API is there, with these objects; or it is not.
    void replace(GroupApi api, std::vector<GroupSpec> specs);
    void turn_off(GroupApi api);
    // Whether that is news to its gang.
    bool put(GroupSpec spec);
    bool erase(const GroupSpec &spec);

    // Null: there is none.
    const GroupSpec *find(const std::string &ns, const GroupRef &ref) const;

    // Of the gangs that the Pod names, the first whose API is there and says
    // nothing else; null: it is alone. A Pod on a node stays what it was when
    // it came there.
    GangKeyPtr choose_gang(const Pod &pod) const;

  private:
    using Key = std::pair<std::string, GroupRef>; // with the namespace

    void forget(GroupApi api);

    std::set<GroupApi> unknown_;
    std::set<GroupApi> on_;
    std::map<Key, GroupSpec> specs_;
};

} // namespace bridge
