// SPDX-License-Identifier: GPL-2.0-or-later
// The binding of one Pod, as it is written for all gangs.
#pragma once

#include "agent/calls/kube_api.h"

namespace bridge {

// Binds the Pod with the annotations that keep autoscalers from removing its
// Node. Where the policies of the cluster are of an earlier release, which
// refuses these, it is bound without them, and the log says so once. Blocks;
// errors as of Kube::bind().
Result<> bind_pod(const Pod &pod, Binding binding, Kube &kube);

} // namespace bridge
