// SPDX-License-Identifier: GPL-2.0-or-later
// What Pods of other schedulers take from their Nodes: DaemonSets, static Pods,
// and everything that kube-scheduler places there. Slurm must not allocate it
// again. There may be 100,000 such Pods, so only the Node and the amounts are
// kept, and most Pods have no devices. Owner thread only.
#pragma once

#include "agent/objects/objects.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace bridge {

struct Amounts {
    MilliCpu cpu;
    Bytes memory;
    // Counts of extended resources by name; zero counts are left out.
    std::map<std::string, std::int64_t> devices = {};
    // Pods with a slurmd of this Slurm that request no CPU, or no memory: what
    // they take is not known.
    std::size_t unsized_workers = 0;

    Amounts &operator+=(const Amounts &more);
    // part must have been added before.
    Amounts &operator-=(const Amounts &part);
    bool operator==(const Amounts &) const = default;
};

// Returns what a Pod with these requests takes. Resources that are not extended
// resources are left out.
Amounts amounts_of(const Requests &asks);

struct ForeignPod {
    std::string uid;
    std::string node; // empty if it takes nothing, or nothing any more
    Amounts asks;
    // It could have stood in Slurm's queue: see could_queue().
    bool outside_queue = false;
    // If a NodeSet owns it: its namespace.
    std::string worker_namespace = {};
};

// Takes the Pod for a slurmd of this Slurm if it is one, by its NodeSet and by
// the namespaces of WorkerNamespace: it is in no queue, and has to say what it
// takes.
void judge_worker(ForeignPod &pod, const std::vector<std::string> &namespaces);

ForeignPod foreign_pod_from(const Json &object);

// Returns the field selector of bound Pods of schedulers other than these that
// may still use their Node.
std::string foreign_selector(const std::vector<std::string> &scheduler_names);

// Whether the Pod is neither a DaemonSet's nor a static Pod of its kubelet,
// which belong to a Node and to no queue.
bool could_queue(const Json &pod);

// Returns what is left of a Node for Slurm, or 0 where the Pods take more than
// the Node has. Devices are not subtracted here: see without_devices().
Amounts less(const Requests &has, const Amounts &taken);

// Returns what the Node has, without the devices that are taken.
Requests without_devices(Requests has, const Amounts &taken);

class ForeignPods {
  public:
    // replace() takes a complete list and forgets all Pods that are not in it.
    // Both functions return the Nodes whose sum has changed.
    std::set<std::string> replace(const std::vector<ForeignPod> &pods);
    std::set<std::string> put(const ForeignPod &pod);

    // Returns the sum of the requests of all foreign Pods on the Node.
    Amounts on(const std::string &node) const;
    std::size_t size() const { return pods_.size(); }
    // Returns the number of Pods with outside_queue on the Nodes for which
    // is_ours is true.
    std::size_t count_outside_queue(
        const std::function<bool(const std::string &node)> &is_ours) const;

  private:
    using Sums = std::unordered_map<std::string, Amounts>; // by Node
    struct Entry {
        Sums::value_type *node; // points into sums_, which never shrinks
        Amounts asks;
        bool outside_queue = false;
    };

    std::unordered_map<std::string, Entry> pods_; // by uid
    Sums sums_;
};

} // namespace bridge
