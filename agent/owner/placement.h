// SPDX-License-Identifier: GPL-2.0-or-later
// Where the Pods of gangs may run: which features Slurm's nodes need for what
// waiting Pods request of a Node, and for nodes with living Pods whose job is
// lost. The devices that Pods need restrict this as well (narrow()), but are
// not its concern. Owner thread only.
#pragma once

#include "agent/nodes/placement_table.h"
#include "agent/nodes/selection_pace.h"
#include "agent/nodes/sync.h"
#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/predicate_memo.h"
#include "agent/owner/sync_times.h"

#include <set>
#include <string>
#include <vector>

namespace bridge {

// Restricts the gang to Nodes that match all of these as well, or whose devices
// can satisfy this as well. The latter comes after all other restrictions.
void narrow(PredicateMemo &memo, PlacementFacts &facts,
            const std::vector<NodeSelector> &selectors);
void narrow(PredicateMemo &memo, PlacementFacts &facts, const Gang &gang,
            const DeviceCondition &devices);

class Placement {
  public:
    Placement(const Context &context, Agenda &agenda, SyncTimes &sync,
              GangStore &gangs, const KnownNodes &nodes, PredicateMemo &memo)
        : context_(context), agenda_(agenda), sync_(sync), gangs_(gangs),
          nodes_(nodes), memo_(memo)
    {
    }

    // Limits of k8s.conf, and the number of Namespaces that share them.
    void set_limit();
    void set_namespaces(std::size_t count) { table_.set_namespaces(count); }

    // Pods with equal requirements share them.
    void share(Pod &pod) { table_.share(pod); }

    // What decide() must know: begin() returns what the Pods and their volumes
    // require, and finish(), when devices have restricted that, what follows.
    // The gang is woken when that may have changed.
    PlacementFacts begin(GangEntry &entry);
    PlacementFacts finish(const Gang &gang);
    // Whether the nodes have the features that the gang's job would request. If
    // not, the gang is woken when they have.
    bool is_known(const Gang &gang);

    // The features that Slurm's nodes should have. all_known: all gangs are.
    FeatureWishes wishes(bool all_known);
    // Takes what the sync found. It is doubted if slurmctld went away
    // meanwhile: it may return from an older state, without the features.
    void take(const NodeSyncResult &synced, bool doubted);
    void doubt() { table_.doubt(); }

    // Features that nobody needs any more are removed from the nodes after a
    // while, not at once: the next Pod of the kind would have to wait for them
    // again.
    Clock::time_point next_drop() const;
    void drop_unused();

  private:
    PlacementTable::State need(const Gang &gang, const PredicatePtr &predicate);
    void find_node(const Gang &gang, PlacementFacts &facts);
    std::string nowhere_words(const Gang &gang);
    PredicatePtr preferred_of(const Gang &gang);
    PredicatePtr known_preferred(const Gang &gang) const;
    std::string too_large_reason(const Gang &gang);
    std::string misplaced_reason(const Gang &gang) const;
    void record_needs();

    const Context &context_;
    Agenda &agenda_;
    SyncTimes &sync_;
    GangStore &gangs_;
    const KnownNodes &nodes_;
    PredicateMemo &memo_;
    PlacementTable table_;
    SelectionPace pace_;
    std::set<std::string> selected_; // as the last sync found: NodePlan
    std::set<std::string> waits_;    // gang uids, until the next sync
};

} // namespace bridge
