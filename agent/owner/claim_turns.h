// SPDX-License-Identifier: GPL-2.0-or-later
// In which order gangs read their claims when not all can in one turn: the
// namespaces take turns, and in each its gangs, those first whose jobs have
// nodes. Belongs to one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class ClaimTurns {
  public:
    struct OfNamespace { // uids
        std::set<std::string> placed;
        std::set<std::string> waiting;
    };
    using Gangs = std::map<std::string, OfNamespace>;
    struct Turn {
        std::string ns;
        std::string uid;
        bool placed = false;
    };

    // Returns all of them, those first whose turn was longest ago.
    std::vector<Turn> order(const Gangs &gangs);
    // This one had its turn.
    void had(const Turn &turn);

  private:
    struct Last { // uids
        std::string placed;
        std::string waiting;
    };
    std::string last_ns_;
    std::map<std::string, Last> last_; // by namespace
};

} // namespace bridge
