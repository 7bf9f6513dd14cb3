// SPDX-License-Identifier: GPL-2.0-or-later
// What an object beside the Pods says of their gang: how many Pods it has, and
// how many of them must exist. Pods name that object; users write it, so all of
// it is checked here. Pure; knows nothing of Slurm.
//
//   API group, object              named by the Pod's        Pods
//   -----------------------------  ------------------------  ------------------
//   scheduling.x-k8s.io PodGroup   label scheduling.x-k8s.   spec.minMember
//     (scheduler-plugins)            io/pod-group
//   scheduling.k8s.io PodGroup     spec.schedulingGroup      gang.minCount; one
//     (Kubernetes' own)                                        of policy "basic"
//                                                              is no gang
//   jobset.x-k8s.io JobSet         JobSet's labels, with its   Σ replicas ×
//                                    uid                       parallelism
#pragma once

#include "agent/objects/objects.h"
#include "agent/objects/pod_group_status.h"
#include "common/base/json.h"

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace bridge {

enum class GroupApi : std::uint8_t { none, plugins, workload, jobset };

inline constexpr std::array group_apis{GroupApi::plugins, GroupApi::workload,
                                       GroupApi::jobset};

// On a Pod, written by users and by several controllers: the PodGroup of
// scheduler-plugins that it belongs to.
inline constexpr char plugins_group_label[] = "scheduling.x-k8s.io/pod-group";

// Where the API server has them.
struct GroupApiPath {
    const char *group;    // "scheduling.k8s.io"
    const char *version;  // "v1alpha2"
    const char *resource; // "podgroups"
    const char *kind;     // "PodGroup"

    std::string list() const;                          // all, of all namespaces
    std::string status_of(const ObjectKey &key) const; // subresource of one
    std::string words() const; // "podgroups.scheduling.k8s.io/v1alpha2"
};

GroupApiPath path_of(GroupApi api); // not of none

// What a Pod says: whose gang it is of. In the Pod's namespace, always.
struct GroupRef {
    GroupApi api = GroupApi::none;
    std::string name;

    auto operator<=>(const GroupRef &) const = default;
};

struct GroupSpec {
    GroupApi api = GroupApi::none;
    ObjectKey key;
    std::string uid;
    std::string resource_version;
    // So many Pods must exist before any gets a node. 0: no gang, each Pod is
    // alone.
    std::uint32_t minimum = 1;
    // Tasks of the job. Of a PodGroup it is the minimum (elastic): more Pods
    // may exist, each of which is a job of its own once these run.
    std::uint32_t size = 1;
    bool elastic = true;
    // As long as some Pods may keep their nodes while others of them have none;
    // 0: it does not say.
    std::chrono::seconds timeout{0};
    std::string objection; // why this cannot be; empty: it can
    // Kubernetes' own: its PodGroupScheduled condition.
    ScheduledCondition scheduled;
    // Of scheduler-plugins.
    PodGroupStatus status;
    StatusWriter status_writer = StatusWriter::nobody;

    // Whether gangs are another's business now; the rest is what we write.
    bool same_terms(const GroupSpec &other) const;
};

// From the object's JSON; a field that is missing or of a wrong type is empty.
GroupSpec group_spec_from(const Json &object, GroupApi api);

// Our word on its status. Only for the two kinds of PodGroup.
struct GroupPatch {
    GroupApi api = GroupApi::none;
    ObjectKey key;
    std::string uid;
    std::string resource_version; // it is refused where this is old
    // Kubernetes' own: the PodGroupScheduled condition.
    ScheduledCondition condition;
    // The condition's status is another than before; of scheduler-plugins: it
    // starts now.
    bool flips = false;
    PodGroupStatus status = {}; // of scheduler-plugins, all of it
};

} // namespace bridge
