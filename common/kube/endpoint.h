// SPDX-License-Identifier: GPL-2.0-or-later
// Where the API server is: what a program was configured with, else what
// Kubernetes tells every Pod.
#pragma once

#include "common/base/result.h"
#include "common/kube/http.h"

#include <string>

namespace bridge {

// Each argument may be empty: the address is then that of the environment of a
// Pod, the files those of its ServiceAccount. Code::not_found when there is no
// address at all.
Result<HttpEndpoint> find_endpoint(const std::string &server,
                                   const std::string &ca_file,
                                   const std::string &token_file);

} // namespace bridge
