// SPDX-License-Identifier: GPL-2.0-or-later
// The shadow jobs (common/slurm/node_use.h): which there are, and that their
// prologs are released at once, since they have nothing to start. The sync of
// nodes makes and ends them. Owner thread only.
#pragma once

#include "agent/owner/plugin_line.h"

#include <set>
#include <utility>
#include <vector>

namespace bridge {

class Shadows {
  public:
    explicit Shadows(const PluginLine &line) : line_(line) {}

    // slurmctld may have lost some, so that the next sync has to list them.
    void doubt() { doubted_ = true; }
    bool pop_doubt() { return std::exchange(doubted_, false); }

    // A sync has found, or made, these. Releases the prologs of new ones.
    void take(const std::vector<JobRef> &jobs);
    // The prolog of this job is held. Returns whether it is a shadow job.
    bool release(JobRef job) const;

  private:
    const PluginLine &line_;
    std::set<JobRef> jobs_;
    bool doubted_ = true;
};

} // namespace bridge
