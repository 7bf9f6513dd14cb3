// SPDX-License-Identifier: GPL-2.0-or-later
// The objects that the operator makes for a Controller or an Accounting. Each
// is applied as a whole, and carries the hash of what was applied: it is
// applied again when it is gone, or is to be another one. Pure.
#pragma once

#include "common/base/json_text.h"
#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

// Where objects of a kind are in the API.
struct MadeKind {
    const char *kind;
    const char *api; // its path
    const char *plural;
};

inline constexpr char rbac_group[] = "rbac.authorization.k8s.io";
inline constexpr MadeKind made_kinds[] = {
    {"ConfigMap", "/api/v1", "configmaps"},
    {"Service", "/api/v1", "services"},
    {"ServiceAccount", "/api/v1", "serviceaccounts"},
    {"Role", "/apis/rbac.authorization.k8s.io/v1", "roles"},
    {"RoleBinding", "/apis/rbac.authorization.k8s.io/v1", "rolebindings"},
    {"StatefulSet", "/apis/apps/v1", "statefulsets"},
    {"Deployment", "/apis/apps/v1", "deployments"},
};

// For whom an object is made. The garbage collector deletes it afterwards.
struct MadeFor {
    const char *kind; // Controller or Accounting
    const Meta &meta;
};

// An object that is to be: all of it but apiVersion, kind, and its owner.
struct Wanted {
    const char *kind; // one of made_kinds
    std::string name;
    TextMap labels;
    TextMap annotations;
    JsonMembers members;
};

// Returns nothing if it is there already.
std::optional<Step> made_step(const Known &known, const MadeFor &owner,
                              const Wanted &wanted);

// The object of this kind and name in the namespace of the owner, or nullptr.
const Made *find_made(const Known &known, const MadeFor &owner,
                      const char *kind, const std::string &name);

// Where such an object is in the API. kind: one of made_kinds.
std::string made_path(const std::string &kind, const Key &key);

// What the API server refused of these steps the last time, or "".
std::string refused(const std::vector<Step> &steps,
                    const std::map<std::string, std::string> &failures);

} // namespace bridge::slinky
