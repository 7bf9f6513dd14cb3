// SPDX-License-Identifier: GPL-2.0-or-later
// What act() does to Pods whose job has ended. On a worker.
#pragma once

#include "agent/act/act.h"

namespace bridge {

// Ends the Pods that live by the job, so that the objects and the logs stay
// where anything ran. It stops at the first error.
Result<Outcome> end_pods(const Gang &gang, const EndPods &ending, Kube &kube);

// Pods that wait, and whose job was ended on purpose, become Failed.
Result<Outcome> fail_pods(const Gang &gang, const FailPods &failing,
                          Kube &kube);

// A worker that has a job of its own ends once the Pod of its script is over. A
// list may lack that one though it is there, so the API server is asked: then
// Code::busy. Any other Action may be carried out.
Result<> check_script_over(const Action &action, const Gang &gang, Kube &kube);

} // namespace bridge
