// SPDX-License-Identifier: GPL-2.0-or-later
// What the API server means when it says no: HTTP statuses and Status objects
// as Codes. Pure.
#pragma once

#include "common/base/json.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <string>
#include <string_view>

namespace bridge {

// 401 and 403 are denied, 404 not_found, 409 conflict, 410 gone; 408, 429 and
// 5xx busy; every other 4xx rejected; the rest internal.
Code code_of_status(long status);

// From the body of a reply: the message of the Status in it, if it is one.
Error status_error(long status, std::string_view body);

// From a Status object, as an ERROR event carries one.
Error status_error(const Json &status);

// A patch that names another uid than the object's is refused as a change of
// an immutable field (422), not as a conflict.
bool is_uid_mismatch(long status, std::string_view body);

// An eviction that a PodDisruptionBudget forbids (429), not one that came while
// too many were asked for.
bool is_budget_exhausted(long status, std::string_view body);

// The limit of a list: all objects in one reply may be more than Http takes.
inline constexpr char page_size[] = "500";

// The object in the reply to a GET. Its errors begin with what was asked; a
// body that is no JSON is Code::internal.
Result<Json> object_in(const Result<HttpReply> &reply, const std::string &what);

} // namespace bridge
