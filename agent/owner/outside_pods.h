// SPDX-License-Identifier: GPL-2.0-or-later
// Pods for which no job stands: those of other schedulers, and ours that
// somebody else has bound. Slurm must not give away what they use of its nodes,
// so these are compared again when that changes. Owner thread only.
#pragma once

#include "agent/objects/foreign_pods.h"
#include "agent/owner/context.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/sync_times.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

class OutsidePods {
  public:
    OutsidePods(const Context &context, SyncTimes &sync,
                const KnownNodes &nodes)
        : context_(context), sync_(sync), nodes_(nodes)
    {
    }

    // Pods of other schedulers: a complete list of them, or one that has
    // changed or is gone.
    void replace(std::vector<ForeignPod> pods);
    void put(ForeignPod pod, bool deleted);
    const ForeignPods &foreign() const { return foreign_; }

    // The state of a Pod of ours, which may be bound by others.
    void note(const Pod &pod, bool deleted);

    // What they use, by Node, of the Nodes that are to be Slurm's; nothing
    // before the first list.
    std::optional<std::map<std::string, Amounts>> taken() const;
    // How many of them on Slurm's nodes could have stood in its queue.
    std::size_t count() const;

  private:
    const Context &context_;
    SyncTimes &sync_;
    const KnownNodes &nodes_;
    ForeignPods foreign_; // of other schedulers
    ForeignPods strays_;  // ours, bound by others
    bool listed_ = false;
};

} // namespace bridge
