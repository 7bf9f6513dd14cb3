// SPDX-License-Identifier: GPL-2.0-or-later
// The predicates of Pods that wait for a node, and whether Slurm's nodes have
// the matching features yet: Slurm rejects a job at submit if no node has its
// feature. Belongs to the owner thread; only stores and answers.
//
//   need()    a gang wants to submit              → new: sync the nodes
//   wishes()  predicates for the next node sync   ┐ owner ▶ nodes/sync
//   take()    number of nodes with each feature   ┘
//
// The empty predicate (null pointer) is always in the table.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/mailbox.h"
#include "common/base/sweep_mark.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

class PlacementTable {
  public:
    enum class State {
        ready,             // some node has the feature
        unknown,           // no sync has set it yet
        nowhere,           // no Node satisfies the predicate
        full,              // the table has too many, but for the reserve
        full_in_namespace, // the namespace has too many
    };

    // Each predicate costs a feature on every node that satisfies it and one
    // evaluation per Node.
    static constexpr std::size_t max_predicates = 400;
    // So many more may be predicates that no Node satisfies. Those cost only
    // the evaluation, and take no room of others.
    static constexpr std::size_t max_nowhere = max_predicates;
    // The last of these are for namespaces with few predicates: divided evenly
    // among all namespaces, each gets in there until it has its part, at least
    // one. So there is room for each of them, whatever the others need.
    static constexpr std::size_t reserve = max_predicates / 5;

    // The namespace of the Pods that have a predicate, and whether one of their
    // jobs requests its feature already; such a predicate is accepted
    // regardless of the limits.
    struct Asker {
        std::string ns;
        bool has_job = false;
    };

    PlacementTable();

    // Makes equal predicates share one object, however many Pods have them.
    void share(Pod &pod);

    // Limits the number of different predicates of each namespace.
    void set_limit(std::size_t in_namespace) { in_namespace_ = in_namespace; }

    // How many namespaces the cluster has.
    void set_namespaces(std::size_t count)
    {
        namespaces_ = std::max<std::size_t>(count, 1);
    }

    // Some Pods without a node need this predicate. Remembers it from now on; a
    // new one is `unknown` until the next sync.
    State need(const PredicatePtr &predicate, const Asker &asker,
               Clock::time_point now);
    // Whether need() has added a predicate since the last call.
    bool pop_new() { return std::exchange(new_, false); }

    std::vector<PredicatePtr> wishes() const;

    // Records what a sync with these wishes found: the number of nodes with
    // each feature. all: the sync completed, so a missing count means no node.
    // Returns whether any predicate has changed its state.
    bool take(const std::vector<PredicatePtr> &wishes,
              const std::map<std::string, std::size_t> &nodes, bool all);

    // Call when slurmctld may have lost features. Until the next take() no job
    // may request any; what is known of the Nodes is kept.
    void doubt() { doubted_ = true; }
    bool doubted() const { return doubted_; }

    // Forgets predicates that nobody, or nobody of a namespace, has needed for
    // this long. Returns whether there were any.
    bool drop_unused(Clock::time_point now, Clock::duration linger);
    // When drop_unused() can next have something to forget.
    Clock::time_point next_drop(Clock::duration linger) const;

  private:
    struct Entry {
        PredicatePtr predicate;
        std::optional<std::size_t> nodes; // that have the feature
        // When it was last needed, by namespace. Empty for the empty predicate.
        std::map<std::string, Clock::time_point> needed;
    };
    static State state_of(const Entry &entry);
    bool has_room(const Asker &asker) const;
    bool is_full(const Asker &asker) const;
    void count_nowhere();
    PredicatePtr share(PredicatePtr predicate);

    std::map<std::string, Entry> entries_; // by feature
    // The number of predicates by namespace.
    std::map<std::string, std::size_t> held_;
    std::size_t nowhere_ = 0; // predicates that no Node satisfies
    std::size_t in_namespace_ = max_predicates;
    std::size_t namespaces_ = 1;
    std::map<std::string, std::weak_ptr<const Predicate>> shared_;
    bool new_ = false;
    bool doubted_ = false;
    SweepMark shared_sweep_{64};
};

} // namespace bridge
