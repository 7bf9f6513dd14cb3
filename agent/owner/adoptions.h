// SPDX-License-Identifier: GPL-2.0-or-later
// Helps waiting jobs that adopt Pods: with their priority, with the tier of
// their partition (common/slurm/adoption_tier.h), and where slurmctld holds
// them because it had forgotten the feature of their node. Owner thread only.
#pragma once

#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/job_lists.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/pins.h"
#include "agent/owner/voice.h"
#include "common/slurm/adoption_tier.h"

#include <cstdint>
#include <string>

namespace bridge {

class Adoptions {
  public:
    struct Parts {
        const Errands &errands;
        JobLists &lists;
        const Voice &voice;
        GangStore &gangs;
        const KnownNodes &nodes;
        const Pins &pins;
    };
    Adoptions(const Context &context, const Parts &parts)
        : context_(context), to_(parts)
    {
    }

    // A list shows this priority of the gang's job, which adopts.
    void restore_priority(const Gang &gang, std::uint32_t priority) const;

    // Call when the nodes have their features. The jobs are listed again if one
    // that adopts may be held because its feature was missing: a list that came
    // before shows no such hold, or could not end it. lost: slurmctld may have
    // forgotten features that nodes had.
    void look_for_unfit(bool lost) const;

    // Asks slurmctld once for all that wait behind a higher tier. The next list
    // of jobs repeats this, for calls that failed and for jobs that have come.
    void widen();

  private:
    void widened(const std::string &uid, const Widening &wide,
                 const Result<> &done) const;

    const Context &context_;
    const Parts to_;
    bool widening_ = false; // it is under way
};

} // namespace bridge
