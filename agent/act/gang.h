// SPDX-License-Identifier: GPL-2.0-or-later
// What act() does for a grouped gang and not for a lone Pod. On a worker.
#pragma once

#include "agent/act/act.h"
#include "agent/calls/kube_api.h"
#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

// Before anything is written for the nodes of its job. Code::busy: slurmctld
// went away since that was decided, and may have placed a batch job anew, of
// whose nodes its script is told.
Result<> check_placed(const Gang &gang, const ActContext &context);

// What the claims of the Pods that have a seat need, of all before any is
// bound. Returns the first error, and goes on after it as bind_seats() does;
// what is reserved stays so.
Result<Outcome> reserve_seats(const Gang &gang, const Bind &bind, Kube &kube);

// Binds the Pods that have a seat, one after the other, each after what its
// claims need, and returns the first error. It goes on when that concerns one
// Pod, and stops when the API server does not answer. What is bound stays
// bound; binding it again does nothing.
Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube);

// A Pod that no list has shown, and that has not ended: one that the gang's job
// has bound, or the one for which it was asked for. Of a batch job's that one
// also when it has ended, and not while it lives by another job.
Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube);

} // namespace bridge
