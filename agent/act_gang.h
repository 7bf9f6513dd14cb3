// SPDX-License-Identifier: GPL-2.0-or-later
// What act() does for a grouped gang and not for a lone Pod. On a worker.
#pragma once

#include "agent/decide.h"
#include "agent/kube_api.h"

#include <optional>

namespace bridge {

// Binds the Pods that have a seat, one after the other. At the first error it
// stops: what is bound stays bound, and binding it again does nothing.
Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube);

// A Pod of this gang that is there though no watch has shown one.
Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube);

} // namespace bridge
