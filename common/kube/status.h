// SPDX-License-Identifier: GPL-2.0-or-later
// Converts HTTP statuses and Status objects of the API server to Codes. Pure.
#pragma once

#include "common/base/json.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <string>
#include <string_view>

namespace bridge {

// 401 and 403 become denied, 404 not_found, 409 conflict, 410 gone; 408, 429
// and 5xx busy; every other 4xx rejected; the rest internal.
Code code_of_status(long status);

// Makes an Error from a reply. If the body is a Status object, its message is
// included.
Error status_error(long status, std::string_view body);

// Makes an Error from a Status object, for example that of an ERROR event.
Error status_error(const Json &status);

// Tells whether a patch was refused because it names another uid than the
// object's. The API server treats that as a change of an immutable field (422),
// not as a conflict.
bool is_uid_mismatch(long status, std::string_view body);

// Tells whether a PodDisruptionBudget forbids an eviction (429). A 429 may also
// mean that there were too many requests.
bool is_budget_exhausted(long status, std::string_view body);

// The page size of a list: all objects in one reply could exceed the limit of
// Http.
inline constexpr char page_size[] = "500";

// Returns the object in the reply to a GET. Error messages begin with what;
// Code::internal if the body is not JSON.
Result<Json> object_in(const Result<HttpReply> &reply, const std::string &what);

} // namespace bridge
