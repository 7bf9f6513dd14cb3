// SPDX-License-Identifier: GPL-2.0-or-later
// What a sync has to write on Nodes: its patches, and the Event that says why
// Slurm does not serve a Node. Nothing is written twice. Owner thread only.
#pragma once

#include "agent/nodes/step.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/sync_times.h"

#include <map>
#include <string>
#include <vector>

namespace bridge {

class NodeMarks {
  public:
    NodeMarks(Context &context, const Errands &errands, SyncTimes &sync,
              const KnownNodes &nodes)
        : context_(context), errands_(errands), sync_(sync), nodes_(nodes)
    {
    }

    // Sends the patches. After one that failed the nodes are compared again.
    void patch(const std::vector<NodePatch> &patches);
    // Reports the reason on the Node, once each time it changes. refused: the
    // reasons, by Node; all that there are now.
    void report_refused(const std::map<std::string, std::string> &refused);

  private:
    void patched(const std::string &node, const Result<> &done);

    Context &context_;
    const Errands &errands_;
    SyncTimes &sync_;
    const KnownNodes &nodes_;
    // The resourceVersion for which a patch of the Node was sent. The watch
    // brings a newer one.
    std::map<std::string, std::string> patched_;
    std::map<std::string, std::string> refused_; // as told there
};

} // namespace bridge
