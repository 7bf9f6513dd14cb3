// SPDX-License-Identifier: GPL-2.0-or-later
// Which gang a Pod belongs to, decided from the Pod alone: its labels, its
// annotations and its controller. Users and their controllers write all of
// these, so they are checked here. A gang never spans namespaces. Pure.
//
//   the Pod has                            one gang is              size from
//   -------------------------------------  -----------------------  -----------
//   label slurmk8s/gang                    that name                annotation
//   LeaderWorkerSet's labels               one group of the set     LWS's own
//   JobSet's labels, and the annotation    one attempt of the set   annotation
//   controller Job, and the annotation     that Job                 annotation
//   label scheduling.x-k8s.io/pod-group    that PodGroup            PodGroup's
//   JobSet's labels                        one attempt of the set   JobSet's
//   spec.schedulingGroup                   that PodGroup            PodGroup's
//   anything else                          none: the Pod is alone
//
// The annotation is slurmk8s/gang-size. With slurmk8s/gang-min the agent
// requests the job, sized for the whole gang, as soon as that many Pods exist.
// A Pod with size 0 is alone unless it has the label slurmk8s/gang. The sizes
// of PodGroups and JobSets are read elsewhere (group_spec.h). If the API server
// does not have such objects, the Pod belongs to the next gang in the list that
// it names.
#pragma once

#include "agent/objects/group_spec.h"
#include "agent/objects/objects.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct GangKey {
    std::string uid;        // "default/gang/train": no Pod has such a uid
    std::string name;       // "train", shown to users
    bool by_label = false;  // named by a label: a later gang may reuse the name
    std::uint32_t size = 0; // number of Pods of the complete gang
    std::uint32_t minimum = 0; // Pods that must exist before it is placed
    // The other Pods may be created only when the first one runs:
    // LeaderWorkerSet with startupPolicy LeaderReady, which its Pods do not
    // mention.
    bool first_may_be_alone = false;
    // The position of the Pod in its gang, if its controller assigns one. Pods
    // are placed in this order; equal indexes are ordered by name.
    bool indexed = false;
    std::uint64_t index = 0;
    std::string unfit_reason; // why the gang is impossible, or empty
    // The object that defines the sizes instead of the Pods, and the gang to
    // use where the API server does not have that kind of object (null: the Pod
    // is alone then).
    GroupRef group;
    std::string group_uid; // required uid of that object; empty: any
    GangKeyPtr otherwise;

    bool operator==(const GangKey &) const = default;
};

// Returns the gang that the Pod names, or null if the Pod is alone.
GangKeyPtr gang_key(const ObjectKey &pod, const OwnerRef &controller,
                    const TextMap &labels, const TextMap &annotations,
                    const std::string &scheduling_group = {});

// Returns the uid of the gang that a PodGroup defines.
std::string gang_uid_of(const std::string &ns, const GroupRef &group);

// Returns true if the Pod names that gang, also as an alternative
// ("otherwise").
bool names_gang(const Pod &pod, const std::string &gang_uid);

// The sizes on which all Pods of a gang agree.
struct GangTerms {
    std::uint32_t size = 1;
    std::uint32_t minimum = 1;
    std::string unfit_reason; // they disagree, or are too many; else empty
};
GangTerms terms_of(const std::vector<std::shared_ptr<const Pod>> &pods,
                   std::uint32_t most);

// Returns the message "a gang may have 8 Pods, not 9: MaxGangSize in k8s.conf".
std::string too_large_gang_message(std::size_t size, std::size_t most);

// The order in which the Pods of a gang get their ranks: by index, then by
// name, where digits at the end of a name compare as a number.
bool ranks_before(const Pod &a, const Pod &b);

} // namespace bridge
