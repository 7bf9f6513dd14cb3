// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of act() for Pods whose job has ended. Run on a worker thread.
#pragma once

#include "agent/act/act.h"

namespace bridge {

// Ends the Pods that run by the job, so that the objects and logs of Pods that
// ran stay. A Pod whose own grace period is longer than gang.grace.longest is
// deleted instead, and the grace period of one that is being deleted is
// shortened. Stops at the first error.
Result<Outcome> end_pods(const Gang &gang, const EndPods &ending, Kube &kube);

// Sets waiting Pods to Failed, because their job was ended on purpose.
Result<Outcome> fail_pods(const Gang &gang, const FailPods &failing,
                          Kube &kube);

// Checks before a Complete that ends a worker with a job of its own because the
// script's Pod is over. A list may lack the script's Pod, so the API server is
// asked: Code::busy if that Pod has not ended. Success for any other Action.
Result<> check_script_over(const Action &action, const Gang &gang, Kube &kube);

} // namespace bridge
