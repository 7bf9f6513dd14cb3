// SPDX-License-Identifier: GPL-2.0-or-later
// The total requests of a Pod, as the API defines them (component-helpers,
// resource/helpers.go PodRequests), and which amounts are invalid. Pure.
//
//   sum  = containers and sidecars
//   peak = the most that any init container needs while it runs, with the
//          sidecars that were started before it
//   for each resource the larger of the two; values in spec.resources replace
//   it; the Pod's overhead is always added
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct PodRequests {
    Requests requests;
    // Reasons for amounts that are not quantities; such amounts count as 0.
    std::vector<std::string> unfit_reasons;
};

// Sums are capped at 2^62. During an in-place resize the amount that a
// container still holds counts until it has become smaller.
PodRequests pod_requests(const Json &pod);

// Reads a list of resources and amounts, such as a Node's allocatable. of_what
// is the beginning of each reason, such as "allocatable".
PodRequests read_resources(const Json &list, const std::string &of_what);

} // namespace bridge
