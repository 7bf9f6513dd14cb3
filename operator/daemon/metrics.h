// SPDX-License-Identifier: GPL-2.0-or-later
// What the operator counts, and how its NodeSets stand, for /metrics. May be
// used by every thread.
#pragma once

#include "common/metrics/metric_text.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace bridge::slinky {

class Metrics {
  public:
    void count_step(const std::string &verb, const std::string &result);
    // Those that it follows, by kind.
    void set_objects(const std::string &kind, std::uint64_t count);

    // What the status of a NodeSet says of its Pods, and of their Slurm nodes.
    struct Set {
        struct Count {
            const char *state;
            std::uint64_t count;
        };
        std::string ns;
        std::string name;
        std::vector<Count> pods;
        std::vector<Count> slurm_nodes;
    };
    // All of them.
    void set_node_sets(std::vector<Set> sets);

    // How it stands.
    struct State {
        bool leads = false;
        std::uint64_t failing_watches = 0;
        std::uint64_t failing_objects = 0;
    };
    void set(const State &state);

    MetricText text(MetricFormat format) const;

  private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::uint64_t> steps_;
    std::map<std::string, std::uint64_t> objects_;
    std::vector<Set> node_sets_;
    State state_;
};

} // namespace bridge::slinky
