// SPDX-License-Identifier: GPL-2.0-or-later
// What a PodGroup or JobSet says about a gang: how many Pods it has, and how
// many of them must exist. Pods name that object. Users write it, so all of it
// is checked here. Pure; knows nothing of Slurm.
//
//   API group, object              named by the Pod's        number of Pods
//   -----------------------------  ------------------------  ------------------
//   scheduling.x-k8s.io PodGroup   label scheduling.x-k8s.   spec.minMember
//     (scheduler-plugins)            io/pod-group
//   scheduling.k8s.io PodGroup     spec.schedulingGroup      gang.minCount; the
//     (Kubernetes' own)                                        policy "basic"
//                                                              is no gang
//   jobset.x-k8s.io JobSet         JobSet's labels, with     Σ replicas ×
//                                    its uid                   parallelism
#pragma once

#include "agent/objects/objects.h"
#include "agent/objects/pod_group_status.h"
#include "common/base/json.h"

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <span>
#include <string>

namespace bridge {

enum class GroupApi : std::uint8_t { none, plugins, workload, jobset };

inline constexpr std::array group_apis{GroupApi::plugins, GroupApi::workload,
                                       GroupApi::jobset};

// Label of a Pod that names its PodGroup of scheduler-plugins. Users and
// several controllers write it.
inline constexpr char plugins_group_label[] = "scheduling.x-k8s.io/pod-group";

// Where the API server serves the objects of a GroupApi, in one of its
// versions.
struct GroupApiPath {
    const char *group;    // "scheduling.k8s.io"
    const char *version;  // "v1beta1"
    const char *resource; // "podgroups"
    const char *kind;     // "PodGroup"
    // The condition that says whether the group is scheduled; "": it has none.
    const char *scheduled = "";

    std::string version_path() const; // "/apis/scheduling.k8s.io/v1beta1"
    std::string list() const;         // path of all objects, of all namespaces
    // Path of the status subresource of one.
    std::string status_of(const ObjectKey &key) const;
    std::string words() const; // "podgroups.scheduling.k8s.io/v1beta1"
};

// Returns all versions that the agent knows, the preferred one first. What the
// agent reads is at the same place in all of them. api must not be none.
std::span<const GroupApiPath> paths_of(GroupApi api);
const GroupApiPath &path_of(GroupApi api); // the preferred one

// The object that a Pod names; it is always in the Pod's namespace.
struct GroupRef {
    GroupApi api = GroupApi::none;
    std::string name;

    auto operator<=>(const GroupRef &) const = default;
};

struct GroupSpec {
    GroupApi api = GroupApi::none;
    // The version in which it was read, one of paths_of(api); null: unknown.
    const GroupApiPath *path = nullptr;
    ObjectKey key;
    std::string uid;
    std::string resource_version;
    // Number of Pods that must exist before any of them gets a node. 0: this is
    // not a gang, and each Pod is alone.
    std::uint32_t minimum = 1;
    // Number of tasks of the job. For a PodGroup it equals the minimum
    // (elastic): more Pods may exist, and each of these becomes a job of its
    // own once the gang runs.
    std::uint32_t size = 1;
    bool elastic = true;
    // How long some Pods of the gang may keep their nodes while others have
    // none. 0: not specified.
    std::chrono::seconds timeout{0};
    std::string unfit_reason; // why the gang is impossible, or empty
    // Its condition path->scheduled (Kubernetes' own PodGroup only).
    ScheduledCondition scheduled;
    // Its status, and who writes that (PodGroup of scheduler-plugins only).
    PodGroupStatus status;
    StatusWriter status_writer = StatusWriter::nobody;

    // Compares only the fields that gangs depend on; the other fields are those
    // that the agent itself writes.
    bool same_terms(const GroupSpec &other) const;
};

// Reads the JSON of the object. A field that is missing or has the wrong type
// is read as empty. path: where it was read, one of paths_of(api).
GroupSpec group_spec_from(const Json &object, GroupApi api,
                          const GroupApiPath &path);
GroupSpec group_spec_from(const Json &object, GroupApi api); // path_of(api)

// An update of the object's status by the agent. Only for the two kinds of
// PodGroup.
struct GroupPatch {
    GroupApi api = GroupApi::none;
    ObjectKey key;
    std::string uid;
    std::string resource_version; // the update is refused if this is old
    // The new condition where().scheduled (Kubernetes' own PodGroup only).
    ScheduledCondition condition;
    // Kubernetes' own: the status of the condition changes. scheduler-plugins:
    // the group starts now.
    bool flips = false;
    PodGroupStatus status = {}; // scheduler-plugins: the whole new status
    const GroupApiPath *path = nullptr; // as in the GroupSpec

    // The version to write.
    const GroupApiPath &where() const { return path ? *path : path_of(api); }
};

} // namespace bridge
