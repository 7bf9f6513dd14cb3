// SPDX-License-Identifier: GPL-2.0-or-later
// What Pods of other schedulers take from their Nodes: DaemonSets, static Pods,
// and whatever kube-scheduler places there. Slurm must not give it away again.
// Small, since there may be 100,000 of them: node and amounts, nothing else,
// and of most of them no devices. Owner thread only.
#pragma once

#include "agent/objects/objects.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace bridge {

struct Amounts {
    MilliCpu cpu;
    Bytes memory;
    // Of extended resources, by name: above 0.
    std::map<std::string, std::int64_t> devices = {};

    Amounts &operator+=(const Amounts &more);
    // Of what was added.
    Amounts &operator-=(const Amounts &part);
    bool operator==(const Amounts &) const = default;
};

// A Pod's. A resource that a Node's device plugins do not offer is no concern
// of its kubelet's count.
Amounts amounts_of(const Requests &asks);

struct ForeignPod {
    std::string uid;
    std::string node; // empty: it takes nothing, or nothing any more
    Amounts asks;
};

ForeignPod foreign_pod_from(const Json &object);

// What of a Node Slurm may give away; 0 where there is less than nothing. Of
// devices nothing: see without_devices().
Amounts less(const Requests &has, const Amounts &taken);

// A Node's, but for the devices that are taken.
Requests without_devices(Requests has, const Amounts &taken);

class ForeignPods {
  public:
    // A complete list: what it lacks is gone. Both return the Nodes on which
    // the sum is another one now.
    std::set<std::string> replace(const std::vector<ForeignPod> &pods);
    std::set<std::string> put(const ForeignPod &pod);

    // The sum of their requests on that Node.
    Amounts on(const std::string &node) const;
    std::size_t size() const { return pods_.size(); }

  private:
    using Sums = std::unordered_map<std::string, Amounts>; // by Node
    struct Entry {
        Sums::value_type *node; // in sums_, from which nothing is erased
        Amounts asks;
    };

    std::unordered_map<std::string, Entry> pods_; // by uid
    Sums sums_;
};

} // namespace bridge
