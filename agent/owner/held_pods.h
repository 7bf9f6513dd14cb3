// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that are held back until it is known which gang they belong to: all of
// them until the objects that define gangs are listed, later a new Pod that
// names a group of an API that may have come meanwhile. Owner thread only.
#pragma once

#include "agent/gang/group_table.h"
#include "agent/gang/store.h"
#include "agent/owner/context.h"
#include "agent/owner/message.h"

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

namespace bridge {

class HeldPods {
  public:
    HeldPods(const Context &context, const GroupTable &groups,
             const GangStore &gangs)
        : context_(context), groups_(groups), gangs_(gangs)
    {
    }

    // Takes news about Pods while no group is known at all; returns false if
    // groups are known, and else keeps the news until they are.
    using News = std::variant<Listed<Pod>, Changed<Pod>>;
    template <class PodNews> bool postpone(PodNews &news)
    {
        if (groups_.settled())
            return false;
        postponed_.emplace_back(std::move(news));
        return true;
    }
    std::vector<News> take_postponed() { return std::exchange(postponed_, {}); }

    // Returns whether the Pod is held back, in its latest state, since its gang
    // is open. first: it comes with the first lists.
    bool hold(const Pod &pod, bool first);
    void forget(const std::string &uid);
    // Forgets the Pods of this scheduler name that a list does not have, and
    // returns their uids.
    std::vector<std::string>
    forget_but(const std::string &scheduler,
               const std::unordered_set<std::string> &keep);
    // Whether some of the first lists are held.
    bool any_of_first() const { return first_ != 0; }

    // A look for the API has been answered.
    void answered(GroupApi api, GroupLooks::Number look)
    {
        answered_[api] = look;
    }
    // Returns the Pods whose gangs are not open any more. Each is held until it
    // comes to hold() again.
    std::vector<Pod> ready();

  private:
    using Looks = std::map<GroupApi, GroupLooks::Number>;
    struct Held {
        Pod pod;
        Looks looks; // whose answers it waits for
        bool in_first_list = false;
    };

    bool is_open(const Pod &pod, Looks &looks);

    const Context &context_;
    const GroupTable &groups_;
    const GangStore &gangs_;
    std::vector<News> postponed_;
    std::map<std::string, Held> held_; // by uid
    std::size_t first_ = 0;            // of the first lists
    Looks answered_;
};

} // namespace bridge
