// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how many jobs of Pods may be pending in Slurm, because slurmctld's job
// table (MaxJobCount) is shared with all users. Gangs beyond the limit wait in
// line. When others leave the queue, the namespace with the fewest pending jobs
// goes first, and within it the oldest gang. Pure bookkeeping without polling;
// belongs to the owner thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bridge {

class PendingQuota {
  public:
    struct Limits {
        unsigned all = 0; // 0: no limit; the same below
        unsigned in_namespace = 0;
    };
    struct Asker {
        std::string uid;
        std::string ns;
        std::chrono::sys_seconds created{};
    };

    void set_limits(Limits limits) { limits_ = limits; }

    // Counts the gang: its job is pending in Slurm or is being submitted.
    void count(const Asker &gang);
    // Removes the gang: its job has left Slurm's queue, or it no longer
    // requests one.
    void leave(const std::string &uid);

    // Whether the gang may request a job; if so it counts from now on, else it
    // waits in line.
    bool may_ask(const Asker &gang);
    // Returns the uids of gangs in line that may request a job now. They count
    // until they leave.
    std::vector<std::string> admit();

    // Which limit keeps gangs of this namespace in line.
    enum class Full { nothing, all, in_namespace };
    Full full(const std::string &ns) const;

    std::size_t counted() const { return counted_; }
    std::size_t in_line() const { return gangs_.size() - counted_; }

  private:
    // Creation time and uid of the gang.
    using Place = std::pair<std::chrono::sys_seconds, std::string>;
    struct Gang {
        std::string ns;
        Place place;
        bool counts = false; // false: it waits in line
    };
    struct Queue {
        unsigned counted = 0;
        std::map<Place, std::string> line; // place to uid
    };

    void start_counting(Gang &gang);
    Queue *next_queue();

    Limits limits_;
    std::unordered_map<std::string, Gang> gangs_; // by uid
    std::map<std::string, Queue> queues_;         // by namespace
    std::size_t counted_ = 0;
};

} // namespace bridge
