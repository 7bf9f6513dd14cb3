// SPDX-License-Identifier: GPL-2.0-or-later
// In which order woken gangs are decided when not all can be in one turn of the
// owner thread: the namespaces take turns, and in each its gangs, those first
// whose jobs have nodes. They leave one turn in four to those that wait, so
// that nobody waits for ever. Belongs to one thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace bridge {

class GangTurns {
  public:
    // The gang is to have a turn. One that stands here already keeps its place.
    // placed: its job has nodes.
    void add(const std::string &ns, const std::string &uid, bool placed);

    // Removes and returns the uid of the one whose turn was longest ago;
    // nothing: nobody is left.
    std::optional<std::string> next();
    bool empty() const { return by_ns_.empty(); }

  private:
    struct Line {
        std::set<std::string> uids;
        std::string last; // the one that had its turn
    };
    struct OfNamespace {
        Line placed;
        Line waiting;
        unsigned placed_in_a_row = 0;
    };
    static Line &next_line(OfNamespace &own);

    std::map<std::string, OfNamespace> by_ns_; // those with gangs
    std::string last_ns_;
};

} // namespace bridge
