// SPDX-License-Identifier: GPL-2.0-or-later
// What a Pod asks for altogether, as the API defines it (component-helpers,
// resource/helpers.go PodRequests), and which amounts are none. Pure.
//
//   sum  = containers and sidecars
//   peak = the most that any init container needs while it runs, with the
//          sidecars that were started before it
//   the larger of the two, resource by resource; what spec.resources names
//   replaces it; the Pod's overhead is added always
#pragma once

#include "agent/objects/objects.h"
#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct PodRequests {
    Requests requests;
    // Sentences about amounts that are no quantities; such counts as none.
    std::vector<std::string> objections;
};

// Sums stop at 2^62. After a resize in place, what a container still has
// counts until it has less.
PodRequests pod_requests(const Json &pod);

// A list of resources and amounts, such as a Node's allocatable; of_what
// begins the sentence of an objection.
PodRequests read_resources(const Json &list, const std::string &of_what);

} // namespace bridge
