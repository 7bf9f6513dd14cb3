// SPDX-License-Identifier: GPL-2.0-or-later
// In which order gangs read their claims when not all can in one turn: the
// namespaces take turns, and in each its gangs. Belongs to one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class ClaimTurns {
  public:
    using Gangs = std::map<std::string, std::set<std::string>>; // uids, by ns

    // Returns (namespace, uid) of each, those first whose turn was longest ago.
    std::vector<std::pair<std::string, std::string>> order(const Gangs &gangs);
    // This one had its turn.
    void had(const std::string &ns, const std::string &uid);

  private:
    std::string last_ns_;
    std::map<std::string, std::string> last_; // uids, by namespace
};

} // namespace bridge
