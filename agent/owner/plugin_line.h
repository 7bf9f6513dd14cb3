// SPDX-License-Identifier: GPL-2.0-or-later
// The line to slurmctld's plugin: which plugin is connected, what it has been
// told about nodes, and how often slurmctld has gone away. A plugin that
// connects knows nothing, as slurmctld may have restarted. Owner thread only;
// what workers get is said at the method.
#pragma once

#include "agent/objects/node_map.h"
#include "agent/owner/context.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace bridge {

class PluginLine {
  public:
    explicit PluginLine(Context &context) : context_(context) {}

    // A plugin has connected, or the connected one is gone.
    void hello(const HookMessage &hello, PluginConnection from);
    void lost();

    // Sends to the plugin that the agent knows of, not to one that has
    // connected meanwhile.
    void send(HookMessage message) const;
    // Returns a function, for any thread, that asks for a run of the scheduler.
    std::function<void()> kicker() const;

    // The cluster's name, as the first plugin gave it.
    const std::string &cluster() const { return cluster_; }

    // How often slurmctld has gone away, as far as its plugin tells.
    unsigned absences() const { return *absences_; }
    // Returns a function, for any thread, that says whether slurmctld has gone
    // away since that number was taken.
    std::function<bool()> left_since(unsigned absences) const;

    // A list of all jobs is requested, and has come. Before, the plugin is not
    // told which nodes are dirty.
    void list_requested() { talk_.list_asked = true; }
    void list_came() { talk_.listed |= talk_.list_asked; }

    // Tells the plugin on which nodes Pods may live, and which are dirty,
    // unless it knows that. The former is told again after forget_nodes().
    void tell_nodes(const NodeMap &nodes, const std::set<std::string> &dirty);
    void forget_nodes() { talk_.bridge_said = false; }
    // Tells it which nodes of slurmd Pods are not protected from evictions,
    // now and whenever another plugin connects.
    void tell_unprotected(std::set<std::string> nodes);
    // Whether the plugin knows that this Slurm node is dirty.
    bool told_dirty(const std::string &node) const;

  private:
    void send_list(HookMessage::Type type,
                   const std::set<std::string> &nodes) const;

    // What the connected plugin has been told.
    struct Talk {
        PluginConnection connection = 0; // 0: not connected
        bool list_asked = false;         // jobs requested since it connected
        bool listed = false;             // and that list has arrived
        bool bridge_said = false;
        std::optional<std::set<std::string>> dirty_said;
    };

    Context &context_;
    Talk talk_;
    std::optional<std::set<std::string>> unprotected_; // nothing: not told
    std::string cluster_;
    // Workers read it.
    std::shared_ptr<std::atomic<unsigned>> absences_ =
        std::make_shared<std::atomic<unsigned>>(0);
};

} // namespace bridge
