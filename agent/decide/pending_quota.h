// SPDX-License-Identifier: GPL-2.0-or-later
// How many jobs of Pods may wait in Slurm: slurmctld's table of jobs
// (MaxJobCount) is everybody's. Gangs beyond the limit stand in line, and are
// let in when others leave the queue: first those of the namespace that has the
// fewest jobs there, of one namespace the oldest. Pure bookkeeping, nothing is
// polled; for the owner thread.
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
        unsigned all = 0; // 0: no limit, as below
        unsigned in_namespace = 0;
    };
    struct Asker {
        std::string uid;
        std::string ns;
        std::chrono::sys_seconds created{};
    };

    void set_limits(Limits limits) { limits_ = limits; }

    // A job of the gang waits in Slurm, or is being asked for.
    void count(const Asker &gang);
    // It has left Slurm's queue, or does not ask for a job any more.
    void leave(const std::string &uid);

    // Whether the gang may ask for a job, which counts from now on. If not, it
    // stands in line.
    bool may_ask(const Asker &gang);
    // The uids of those in line for whom there is room now. They count, until
    // they leave.
    std::vector<std::string> admit();

    // Why somebody of that namespace stands in line.
    enum class Full { nothing, all, in_namespace };
    Full full(const std::string &ns) const;

    std::size_t counted() const { return counted_; }
    std::size_t in_line() const { return gangs_.size() - counted_; }

  private:
    using Place = std::pair<std::chrono::sys_seconds, std::string>; // its uid
    struct Gang {
        std::string ns;
        Place place;
        bool counts = false; // else it stands in line
    };
    struct Queue {
        unsigned counted = 0;
        std::map<Place, std::string> line; // to uid
    };

    void start_counting(Gang &gang);
    Queue *next_queue();

    Limits limits_;
    std::unordered_map<std::string, Gang> gangs_; // by uid
    std::map<std::string, Queue> queues_;         // by namespace
    std::size_t counted_ = 0;
};

} // namespace bridge
