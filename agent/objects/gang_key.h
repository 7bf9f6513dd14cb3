// SPDX-License-Identifier: GPL-2.0-or-later
// Which gang a Pod says that it belongs to, told from the Pod alone: its
// labels, its annotations and its controller. All of that is written by users
// or by controllers of theirs, so it is checked here; namespaces never mix.
// Pure.
//
//   what the Pod has                       one gang is              size
//   -------------------------------------  -----------------------  -----------
//   label slurmk8s/gang                    that name                annotation
//   LeaderWorkerSet's labels               a group of it            LWS's own
//   JobSet's labels, and the annotation    one attempt of the set   annotation
//   controller Job, and the annotation     that Job                 annotation
//   label scheduling.x-k8s.io/pod-group    that PodGroup            PodGroup's
//   JobSet's labels                        one attempt of the set   JobSet's
//   spec.schedulingGroup                   that PodGroup            PodGroup's
//   anything else                          none: the Pod is alone
//
// The annotation is slurmk8s/gang-size; slurmk8s/gang-min says that a job is
// asked for, with room for all, as soon as so many Pods exist. A size of 0: the
// Pod is alone, unless it has the label slurmk8s/gang. What a PodGroup or a
// JobSet says is read elsewhere (group_spec.h): where the API server has no
// such objects the Pod is of the next gang in the list that it names.
#pragma once

#include "agent/objects/group_spec.h"
#include "agent/objects/objects.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct GangKey {
    std::string uid;           // "default/gang/train": unlike any Pod's
    std::string name;          // "train", for people
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
    // The object that says the sizes instead of the Pods; and the gang where
    // there is no such API: null, it is alone.
    GroupRef group;
    std::string group_uid; // that it must have; empty: any
    GangKeyPtr otherwise;

    bool operator==(const GangKey &) const = default;
};

// Null: the Pod is alone.
GangKeyPtr gang_key(const ObjectKey &pod, const OwnerRef &controller,
                    const TextMap &labels, const TextMap &annotations,
                    const std::string &scheduling_group = {});

// The uid of the gang that a PodGroup makes.
std::string gang_uid_of(const std::string &ns, const GroupRef &group);

// The Pod names that gang.
bool names_gang(const Pod &pod, const std::string &gang_uid);

// What all Pods of a gang say together.
struct GangTerms {
    std::uint32_t size = 1;
    std::uint32_t minimum = 1;
    std::string objection; // they contradict each other, or are too many
};
GangTerms terms_of(const std::vector<std::shared_ptr<const Pod>> &pods,
                   std::uint32_t most);

// "a gang may have 8 Pods, not 9: MaxGangSize in k8s.conf"
std::string too_large_gang_words(std::size_t size, std::size_t most);

// The order in which the Pods of a gang get their ranks: by index, then by
// name, numbers at its end as numbers.
bool ranks_before(const Pod &a, const Pod &b);

} // namespace bridge
