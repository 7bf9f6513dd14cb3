// SPDX-License-Identifier: GPL-2.0-or-later
// Which gang a Pod says that it belongs to, told from the Pod alone: its labels,
// its annotations and its controller. All of that is written by users or by
// controllers of theirs, so it is checked here; namespaces never mix. Pure.
//
//   what the Pod has                       one gang is              size
//   -------------------------------------  -----------------------  -----------
//   label slurmk8s/gang                    that name                annotation
//   LeaderWorkerSet's labels               a group of it            LWS's own
//   JobSet's labels, and the annotation    one attempt of the set   annotation
//   controller Job, and the annotation     that Job                 annotation
//   anything else                          none: the Pod is alone
//
// The annotation is slurmk8s/gang-size; slurmk8s/gang-min says that a job is
// asked for, with room for all, as soon as so many Pods exist.
#pragma once

#include "agent/objects.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct GangKey {
    std::string uid;  // "default/gang/train": unlike any Pod's
    std::string name; // "train", for people
    bool by_label = false;     // by our own: names may be used again
    std::uint32_t size = 0;    // Pods that it has when it is complete
    std::uint32_t minimum = 0; // Pods that must exist before it is placed
    // The others may only be made when the first one runs: LeaderWorkerSet with
    // startupPolicy LeaderReady, of which its Pods say nothing.
    bool first_may_be_alone = false;
    // Its place among the others, where its kind gives it one; they are placed
    // in this order, and by name where it is equal.
    bool indexed = false;
    std::uint64_t index = 0;
    std::string objection; // why this cannot be; empty: it can

    bool operator==(const GangKey &) const = default;
};

// Null: the Pod is alone.
GangKeyPtr gang_key(const ObjectKey &pod, const OwnerRef &controller,
                    const TextMap &labels, const TextMap &annotations);

// What all Pods of a gang say together.
struct GangTerms {
    std::uint32_t size = 1;
    std::uint32_t minimum = 1;
    std::string objection; // they contradict each other, or are too many
};
GangTerms terms_of(const std::vector<std::shared_ptr<const Pod>> &pods,
                   std::uint32_t most);

// The order in which the Pods of a gang get their ranks: by index, then by name,
// numbers at its end as numbers.
bool ranks_before(const Pod &a, const Pod &b);

} // namespace bridge
