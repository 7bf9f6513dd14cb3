// SPDX-License-Identifier: GPL-2.0-or-later
// Where the API server is: k8s.conf, or what Kubernetes tells every Pod.
#pragma once

#include "common/kube/http.h"
#include "common/contract/conf.h"
#include "common/base/result.h"

namespace bridge {

// Code::rejected when neither k8s.conf nor the environment of a Pod says it.
Result<HttpEndpoint> endpoint_of(const Conf &conf);

} // namespace bridge
