// SPDX-License-Identifier: GPL-2.0-or-later
// The predicates that Pods which wait for a node have, and whether Slurm's
// nodes have their features yet: a feature that no node has is refused at
// submit. Belongs to the owner thread; does nothing but remember.
//
//   need()    a gang wants to submit            → new: sync the nodes
//   wishes()  what the sync shall set           ┐ bridge ▶ node_sync
//   take()    how many nodes have each feature  ┘
//
// Predicate(), the null pointer, is always one of them.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/mailbox.h"
#include "common/base/sweep_mark.h"

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
        ready,             // some node has its feature
        unknown,           // not synced yet
        nowhere,           // no Node satisfies it
        full,              // too many distinct ones wait already
        full_in_namespace, // of its own
    };

    // Each costs a word on each node that satisfies it, and an evaluation for
    // each Node.
    static constexpr std::size_t max_predicates = 400;

    // Whose Pods have it, and whether a job of theirs asks for its feature
    // already: then it is one of them whatever the limits say.
    struct Asker {
        std::string ns;
        bool has_job = false;
    };

    PlacementTable();

    // One object for equal predicates, however many Pods have it.
    void share(Pod &pod);

    // So many different ones for the Pods of each namespace.
    void set_limit(std::size_t in_namespace) { in_namespace_ = in_namespace; }

    // Some Pods that have no node yet have it. Remembers it from now on; a new
    // one is unknown until the next sync.
    State need(const PredicatePtr &predicate, const Asker &asker,
               Clock::time_point now);
    // Whether need() has remembered a new one since this was asked last.
    bool take_new() { return std::exchange(new_, false); }

    std::vector<PredicatePtr> wishes() const;

    // What a sync with these wishes found: on how many nodes each feature is.
    // all: it did all that it had to do, so no node means that. Returns whether
    // what is ready, or nowhere, has changed.
    bool take(const std::vector<PredicatePtr> &wishes,
              const std::map<std::string, std::size_t> &nodes, bool all);

    // slurmctld may have lost features that it had. What is known of the Nodes
    // stays so, but until the next take() no job may ask for any.
    void doubt() { doubted_ = true; }
    bool doubted() const { return doubted_; }

    // Forgets what nobody, or nobody of a namespace, has needed for that long;
    // true when there was some.
    bool drop_unused(Clock::time_point now, Clock::duration linger);
    // When that may be so next.
    Clock::time_point next_drop(Clock::duration linger) const;

  private:
    struct Entry {
        PredicatePtr predicate;
        std::optional<std::size_t> nodes; // that have its feature
        // When it was needed last, by namespace; nobody has Predicate().
        std::map<std::string, Clock::time_point> needed;
    };
    static State state_of(const Entry &entry);
    bool has_room(const Asker &asker) const;
    PredicatePtr share(PredicatePtr predicate);

    std::map<std::string, Entry> entries_;    // by feature
    std::map<std::string, std::size_t> held_; // of them, by namespace
    std::size_t in_namespace_ = max_predicates;
    std::map<std::string, std::weak_ptr<const Predicate>> shared_;
    bool new_ = false;
    bool doubted_ = false;
    SweepMark shared_sweep_{64};
};

} // namespace bridge
