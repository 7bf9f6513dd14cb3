// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the API server that k8s.conf names and sets the User-Agent of this
// project.
#pragma once

#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"

namespace bridge {

// Fails with Code::rejected if neither k8s.conf nor the environment of a Pod
// names one.
Result<HttpEndpoint> endpoint_of(const Conf &conf);

} // namespace bridge
