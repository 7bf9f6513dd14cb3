// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the operator may be uninstalled: nobody else takes its finalizers
// away.
#pragma once

#include "common/base/json.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// Returns a sentence that names Controllers and NodeSets which are there, in
// these namespaces or, if there are none, in all; or "" without one, also where
// their kinds are not defined. Errors: those of Http::get and of check_status.
// Blocks for as long as endpoint.timeout says for each request.
Result<std::string> objects_left(const HttpEndpoint &endpoint,
                                 const std::vector<std::string> &namespaces);

// Returns "KIND NAMESPACE/NAME" of each item of a list. Pure.
std::vector<std::string> names_in(const std::string &kind, const Json &list);

} // namespace bridge::slinky
