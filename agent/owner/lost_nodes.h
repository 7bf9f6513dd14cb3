// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that are gone or not ready, and since when: it says when the Node of a
// Pod counts as lost, so that nobody can say when its containers end. Only a
// Node whose kubelet does not report, or that is out of service, belongs here:
// the jobs on it are completed without waiting for it. What only keeps new Pods
// away from a Node is drain_reason() in agent/nodes/words.h. Owner thread only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/context.h"
#include "agent/owner/known_nodes.h"

#include <chrono>
#include <map>
#include <string>

namespace bridge {

class LostNodes {
  public:
    LostNodes(Context &context, const KnownNodes &nodes, const GangStore &gangs,
              Agenda &agenda)
        : context_(context), nodes_(nodes), gangs_(gangs), agenda_(agenda)
    {
    }

    // The watch shows this state of a Node, or that the Node is gone. Gangs
    // that live there are woken if that may matter to them.
    void note(const Node &node);
    void note_gone(const std::string &node) { wake_living_on(node); }

    // Forgets Nodes that are gone and have no Pod left.
    void forget_gone();

    // Returns why a Node of the gang's Pods counts as lost: nothing while there
    // is any doubt. The gang is woken when that may change.
    std::string lost_node_reason(GangEntry &entry);

  private:
    struct Ill {
        Clock::time_point since; // by our clock
        // By Kubernetes' clock, which shows which fell ill together.
        std::chrono::sys_seconds began;
    };

    std::string reason_for(GangEntry &entry, const std::string &name);
    void wake_living_on(const std::string &node);
    void forget(const std::string &node);
    bool many_fell(const Ill &with) const;

    Context &context_;
    const KnownNodes &nodes_;
    const GangStore &gangs_;
    Agenda &agenda_;
    std::map<std::string, Ill> ill_; // by Node
};

} // namespace bridge
