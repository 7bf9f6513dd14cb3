// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the address of the API server: from the program's configuration, or
// from what Kubernetes tells every Pod.
#pragma once

#include "common/base/result.h"
#include "common/kube/http.h"

#include <string>

namespace bridge {

// Each argument may be empty. An empty server is replaced by the address in the
// environment of the Pod, an empty file by that of its ServiceAccount.
// Code::not_found if there is no address.
Result<HttpEndpoint> find_endpoint(const std::string &server,
                                   const std::string &ca_file,
                                   const std::string &token_file);

} // namespace bridge
