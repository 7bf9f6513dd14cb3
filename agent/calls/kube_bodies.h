// SPDX-License-Identifier: GPL-2.0-or-later
// The request bodies and paths of KubeApi, and the checks of what a binding may
// carry. Pure.
#pragma once

#include "agent/calls/kube_api.h"

#include <chrono>
#include <string>

namespace bridge {

using WallTime = std::chrono::system_clock::time_point;

// The reporter of an Event.
struct Reporter {
    std::string controller;
    std::string instance;
};

std::string pod_path(const ObjectKey &key);
std::string pods_path(const std::string &ns);
// Empty for kinds other than those that access.cc lists for owners.
std::string owner_path(const std::string &ns, const OwnerRef &owner);
std::string events_path(const std::string &ns);

// Checks labels and annotations of a binding, because the API server stores
// them unchecked and a bad label makes every later write of the Pod fail.
// Code::rejected for what the API server would reject.
Result<> check_binding(const Pod &pod, const Binding &binding);
std::string binding_body(const Pod &pod, const Binding &binding);

// Returns the message as it will be read back.
std::string condition_message(const std::string &message);

std::string unscheduled_body(const Pod &pod, const PodWait &wait, WallTime now);

// Contains the Pod's resourceVersion if it is known: a Pod that was bound
// meanwhile must not be set to Failed.
std::string failed_body(const Pod &pod, const std::string &reason,
                        const std::string &message, WallTime now);

// Returns Code::rejected if the API server would not accept these names and
// values.
Result<> check_metadata(const TextMap &labels, const TextMap &annotations);
std::string stamp_body(const Pod &pod, const TextMap &labels,
                       const TextMap &annotations);

std::string expire_body(const Pod &pod);
std::string disrupted_body(const Pod &pod, const std::string &reason,
                           const std::string &message, WallTime now);
std::string evict_body(const Pod &pod, std::chrono::seconds grace);
// Deletes the object only if it has this uid and, if a resource version is
// given, only while it has that version.
std::string delete_options_body(const std::string &uid,
                                const std::string &resource_version = {});
// The same with a grace period, which is never 0: that would delete the Pod by
// force.
std::string delete_within_body(const std::string &uid,
                               std::chrono::seconds grace);
// Contains the Pod's uid.
std::string extended_claim_body(const Pod &pod,
                                const ExtendedClaimStatus &status);

std::string node_path(const std::string &name);
// Contains the Node's uid and resourceVersion.
std::string node_body(const NodePatch &patch);

// Contains the object's uid and resourceVersion.
std::string group_body(const GroupPatch &patch, WallTime now);

// unique: makes the Event's name unique.
std::string event_body(const Pod &pod, const PodEvent &event,
                       const Reporter &reporter, WallTime now,
                       std::uint64_t unique);
std::string node_event_body(const Node &node, const PodEvent &event,
                            const Reporter &reporter, WallTime now,
                            std::uint64_t unique);

} // namespace bridge
