// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how many jobs of Pods may be pending in Slurm, because slurmctld's job
// table (MaxJobCount) is shared with all users. Gangs beyond the limit wait in
// line. When others leave the queue, the namespace with the fewest pending jobs
// goes first, and within it the oldest gang. Pure bookkeeping without polling;
// belongs to the owner thread.
//
// No namespace can take all places:
// - Each may have a share of them, a fifth unless k8s.conf says otherwise.
// - The last fifth is a reserve for namespaces with few pending jobs. It is
//   divided evenly among all namespaces of the cluster, and a namespace gets in
//   there only until it has as many jobs as its part, at least one. So there is
//   a place for each of them, whatever the others do.
// - Jobs that wait by their own wish may have half of each. These could not
//   start on an empty cluster: they are held, or ask for a later time or for
//   the end of other jobs.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bridge {

class PendingQuota {
  public:
    struct Limits {
        unsigned all = 0; // 0: no limit
        // The share of each namespace. Nothing: a fifth of all; 0: no limit,
        // and no reserve.
        std::optional<unsigned> in_namespace{};
    };
    struct Asker {
        std::string uid;
        std::string ns;
        std::chrono::sys_seconds created{};
        bool by_wish = false; // its job waits by its own wish
    };

    void set_limits(Limits limits);
    // How many namespaces the cluster has.
    void set_namespaces(std::size_t count);

    // Counts the gang: its job is pending in Slurm or is being submitted. Also
    // records whether the job now waits by its own wish.
    void count(const Asker &gang);
    // Removes the gang: its job has left Slurm's queue, or it no longer
    // requests one.
    void leave(const std::string &uid);

    // Whether the gang may request a job; if so it counts from now on, else it
    // waits in line.
    bool may_ask(const Asker &gang);
    // Returns the uids of gangs in line that may request a job now. They count
    // until they leave. Costs nothing if no place has become free since.
    std::vector<std::string> admit();

    // What keeps gangs of this namespace in line: its share, what jobs that
    // wait by their own wish may have, or that only the reserve is left.
    enum class Full { nothing, in_namespace, by_wish, all };
    Full full(const std::string &ns, bool by_wish = false) const;
    // Returns the share of each namespace; 0: there is no limit.
    unsigned share() const;

    bool is_in_line(const std::string &uid) const;
    std::size_t counted() const { return counted_; }
    std::size_t in_line() const { return gangs_.size() - counted_; }

  private:
    // Creation time and uid of the gang.
    using Place = std::pair<std::chrono::sys_seconds, std::string>;
    using Line = std::map<Place, std::string>; // to uid
    struct Gang {
        std::string ns;
        Place place;
        bool by_wish = false;
        bool counts = false; // false: it waits in line
    };
    struct Queue {
        unsigned counted = 0; // of these by_wish wait by their own wish
        unsigned by_wish = 0;
        Line line;
        Line wishing_line; // of gangs whose jobs would wait by their own wish
    };

    static Line &line_of(Queue &queue, const Gang &gang);
    void start_counting(Gang &gang);
    void set_by_wish(Gang &gang, bool by_wish);
    bool is_first(const Asker &asker) const;
    unsigned reserve() const;
    unsigned limit_now() const;
    const Line *next_line() const;

    Limits limits_;
    std::unordered_map<std::string, Gang> gangs_; // by uid
    std::map<std::string, Queue> queues_;         // by namespace
    std::size_t counted_ = 0;
    unsigned namespaces_ = 1;
    bool changed_ = false; // somebody in line may be admitted now
};

} // namespace bridge
