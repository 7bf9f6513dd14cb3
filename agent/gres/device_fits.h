// SPDX-License-Identifier: GPL-2.0-or-later
// Which Nodes have devices that could satisfy what claims ask, if no other
// claim had any of them. Remembers its answers, since selectors are evaluated
// for each device of each Node: an answer stays until the devices of that Node
// change. What cannot be decided within the limits counts as "yes", as does
// what only the devices that Slurm chooses can show, such as counters of
// partitions: a job then finds out. Used by one thread at a time.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/cel_limits.h"
#include "agent/gres/device_ask.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

// The pools of the cluster, by Node.
class NodePools {
  public:
    NodePools() = default;
    explicit NodePools(std::shared_ptr<const DeviceCatalog> catalog);

    struct OnNode {
        // The usable pools with a device there, and only their devices there.
        std::vector<DevicePool> pools;
        // An unusable pool has a device there: nothing is known of it.
        bool doubtful = false;
    };
    OnNode on(const Node &node) const;
    // Returns all pools with a device there, as they are in the catalog but for
    // devices elsewhere; those with counters have these, too.
    std::vector<DevicePool> all_on(const Node &node) const;

    const DeviceCatalog *catalog() const { return catalog_.get(); }

  private:
    struct Place {
        std::size_t pool = 0; // index in the catalog
        DevicePtr device;
    };
    using ByPool = std::map<std::size_t, std::vector<DevicePtr>>;

    ByPool devices_on(const Node &node) const;

    std::shared_ptr<const DeviceCatalog> catalog_;
    std::map<std::string, std::vector<Place>> places_; // by Node
    std::vector<Place> of_several_; // devices that are not of exactly one Node
};

class DeviceFits {
  public:
    // Limits for the selectors that are evaluated between two calls of
    // turn_to(): for one condition, and for all. An answer that is remembered
    // costs nothing.
    static constexpr std::size_t max_of_one = cel_limits::of_condition;
    static constexpr std::size_t max_of_all = cel_limits::of_sync;

    // Answers for these devices from now on, and forgets the answers for
    // conditions that nobody has asked for since the last call.
    void turn_to(const std::shared_ptr<const DeviceCatalog> &catalog);

    // Returns whether the Node could satisfy the condition, which must have an
    // ask. Nothing: its driver is away, or is publishing its devices again;
    // what was true before still holds.
    std::optional<bool> can_satisfy(const DeviceCondition &condition,
                                    const Node &node);

  private:
    struct Answer {
        std::uint64_t version = 0; // of the Node's devices
        bool yes = false;
    };
    struct Asked {
        std::string classes; // the selectors of its DeviceClasses
        std::map<std::string, Answer> answers; // by Node
        CelBudget budget{max_of_one};
        bool used = false;
    };
    struct Stock {
        NodePools::OnNode there;
        std::uint64_t version = 0;
    };
    struct Seen {
        std::vector<DevicePtr> devices;
        std::uint64_t version = 0;
    };

    const Stock &stock_on(const Node &node);
    Asked &asked_for(const DeviceCondition &condition);
    std::optional<bool> decide(Asked &asked, const DeviceAsk &ask,
                               const Stock &stock, const Node &node);

    NodePools pools_;
    std::map<std::string, Asked> asked_;  // by the condition's text
    std::map<std::string, Stock> stocks_; // by Node, since turn_to()
    std::map<std::string, Seen> seen_;    // by Node
    std::uint64_t versions_ = 0;
    CelBudget budget_{max_of_all};
};

} // namespace bridge
