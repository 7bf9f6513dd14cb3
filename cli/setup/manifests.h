// SPDX-License-Identifier: GPL-2.0-or-later
// Which manifests of contribs/kubernetes are applied, and the names of the
// objects in them, so that an upgrade and uninstall take back what an earlier
// setup has made. Pure.
#pragma once

#include "common/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct ObjectId {
    std::string api_version;
    std::string kind;
    std::string ns; // "": it has none
    std::string name;

    auto operator<=>(const ObjectId &) const = default;
};

// Returns the components that the kustomization "all" names, in its order.
std::vector<std::string> components_of(std::string_view kustomization);

// What a cluster serves that some components need.
struct KubeRelease {
    int minor = 0;          // of version 1.x
    bool mutates = true;    // MutatingAdmissionPolicies, in any version
    bool mutates_v1 = true; // as v1
};

// Returns the folders of the components to apply: every one of `all` for the
// word "all", none for "base", or else those that are named, separated by
// commas. On a cluster that serves MutatingAdmissionPolicies only as v1beta1
// the variants for Kubernetes 1.35 are taken, and on one that does not serve
// them those that need them are left out of "all". Code::rejected if a name is
// none of known.
Result<std::vector<std::string>>
choose_components(const std::string &words, const std::vector<std::string> &all,
                  const std::vector<std::string> &known,
                  const KubeRelease &release);

// Returns a kustomization of the base and these components. path: of the folder
// of the manifests, relative to that of the kustomization.
std::string kustomization_of(const std::string &path,
                             const std::vector<std::string> &components);

// Returns the objects in what "kubectl kustomize" prints: documents whose
// fields are indented by two blanks. Lines in any other form are passed over.
std::vector<ObjectId> object_ids(std::string_view yaml);

// One object a line, as setup remembers them. Lines that are none are left out.
std::string text_of(const std::vector<ObjectId> &ids);
std::vector<ObjectId> parse_ids(std::string_view text);

// Returns a List of these objects in JSON, for "kubectl delete -f -". The last
// one comes first: what was made last goes first, and Namespaces go last.
std::string list_of(const std::vector<ObjectId> &ids);

// Returns those of `old` that `fresh` does not have. The version of an API does
// not matter: it is the same object.
std::vector<ObjectId> dropped(const std::vector<ObjectId> &old,
                              const std::vector<ObjectId> &fresh);

} // namespace bridge
