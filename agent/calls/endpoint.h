// SPDX-License-Identifier: GPL-2.0-or-later
// The API server that k8s.conf names, and how this project presents itself
// there.
#pragma once

#include "common/base/result.h"
#include "common/contract/conf.h"
#include "common/kube/http.h"

namespace bridge {

// Code::rejected when neither k8s.conf nor the environment of a Pod says it.
Result<HttpEndpoint> endpoint_of(const Conf &conf);

} // namespace bridge
