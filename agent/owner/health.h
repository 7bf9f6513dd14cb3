// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent counts, and which problems it has: the contents of /metrics
// and /healthz. Used by the owner thread only.
#pragma once

#include "common/base/mailbox.h"
#include "common/metrics/histogram.h"
#include "common/metrics/metric_text.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace bridge {

// Name of a problem: some Nodes cannot be served as they are.
inline constexpr char nodes_problem[] = "nodes";

// Name of a problem: something has not been listed since the start.
inline constexpr char start_problem[] = "start";

// Name of a problem: slurmctld's plugin is not connected.
inline constexpr char plugin_problem[] = "prep/k8s";

// Name of a problem: the Lease cannot be read or renewed.
inline constexpr char lease_problem[] = "Lease";

// Name of a problem: the API server denies rights that the agent needs.
inline constexpr char rights_problem[] = "rights";

// Name of a problem: jobs wait that only a later release understands.
inline constexpr char newer_problem[] = "batch jobs of a later release";

class Health {
  public:
    Health();

    // A problem lasts until it is cleared; what names it ("slurmctld", "watch
    // Pods"). Both return true when something changed, so that it is logged
    // once.
    bool set_problem(const std::string &what, const std::string &reason);
    bool clear_problem(const std::string &what);
    // The same, with a line in the log when something changed.
    void problem(const std::string &what, const std::string &reason);
    void solved(const std::string &what);
    const std::map<std::string, std::string> &problems() const
    {
        return problems_;
    }

    // Returns what /healthz says, a line for each problem that keeps the agent
    // from its work; empty: it is healthy. Of a Node that cannot be served, or
    // a job that waits for an upgrade, all others notice nothing.
    std::string failures(bool standby) const;

    void count_action(const std::string &action, const std::string &result)
    {
        actions_[{action, result}]++;
    }
    void count(const std::string &what) { counts_[what]++; }
    // How long a turn of the owner thread took, with the messages before it.
    void time_turn(Clock::duration took);
    // How long a Pod that is bound now has waited since it was created.
    void time_binding(std::chrono::duration<double> waited);

    void write_metrics(MetricText &text) const;

  private:
    std::map<std::string, std::string> problems_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> actions_;
    std::map<std::string, std::uint64_t> counts_;
    Histogram turns_; // seconds
    Histogram bindings_;
};

} // namespace bridge
