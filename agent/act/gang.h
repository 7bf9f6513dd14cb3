// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of act() for grouped gangs only. Run on a worker thread.
#pragma once

#include "agent/act/act.h"
#include "agent/calls/kube_api.h"
#include "agent/decide/decide.h"

#include <optional>

namespace bridge {

// Call before anything is written for the nodes of its job. Code::busy if
// slurmctld was unreachable since the action was decided: it may have placed a
// batch job on other nodes than its script would be told.
Result<> check_placed(const Gang &gang, const ActContext &context);

// Prepares the claims of all Pods that have a seat, before any of them is
// bound. Returns the first error and goes on after it as bind_seats() does.
// Reservations stay.
Result<Outcome> reserve_seats(const Gang &gang, const Bind &bind, Kube &kube);

// Binds the Pods that have a seat one by one, each after its claims are
// prepared, and returns the first error. Goes on if the error concerns one Pod,
// and stops if the API server does not answer. Bound Pods stay bound; binding
// one again does nothing.
Result<> bind_seats(const Gang &gang, const Bind &bind, Kube &kube);

// Asks the API server for a Pod of the gang that no list has shown and that has
// not ended: one that the gang's job has bound, or the first Pod of the job.
// The first Pod of a batch job counts also when it has ended, but not while it
// runs by another job.
Result<std::optional<Pod>> find_member(const Gang &gang, Kube &kube);

} // namespace bridge
