// SPDX-License-Identifier: GPL-2.0-or-later
// The gangs whose jobs Slurm, or the agent, has refused, and when each may be
// tried again: nothing tells when a refusal would become a yes, and each try is
// an RPC under slurmctld's job lock. So the tries of one namespace are spread
// over time, further apart the more namespaces have such gangs, and one success
// is the sign for all that were refused in the same words. Pure bookkeeping;
// belongs to the owner thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace bridge {

class Refusals {
  public:
    using Duration = std::chrono::milliseconds;

    // Between two tries of one namespace, those after a success, and how many
    // need not wait when all are to be tried again.
    static constexpr Duration spacing{200};
    static constexpr Duration short_spacing{20};
    static constexpr std::size_t at_once = 20;
    // With more namespaces than this that have refused gangs, all of them
    // together make no more tries than so many would.
    static constexpr std::size_t full_share = 4;

    // Records why the gang was refused; replaces what was known of it.
    void add(const std::string &uid, const std::string &ns,
             const std::string &sentence);
    // The gang does not ask for a job any more, or has one.
    void remove(const std::string &uid);
    // Also removes the gang. Returns the others of its namespace that were
    // refused in the same words; none if the gang was not refused.
    std::vector<std::string> accept(const std::string &uid);

    // Returns the shortest pause before a gang of this namespace is tried
    // again.
    Duration pause(const std::string &ns) const;
    // Returns after which time the gang with this index, from 0, of a namespace
    // is tried if all are to be tried again.
    Duration turn(std::size_t index) const;

  private:
    std::size_t shares() const;

    struct Place {
        std::string ns;
        std::string sentence;
    };
    std::unordered_map<std::string, Place> gangs_; // by uid
    // By namespace and sentence; no set is empty.
    std::map<std::string, std::map<std::string, std::set<std::string>>> uids_;
    // By namespace; none without a gang.
    std::map<std::string, std::size_t> counts_;
};

} // namespace bridge
