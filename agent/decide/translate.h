// SPDX-License-Identifier: GPL-2.0-or-later
// Translates from Kubernetes to Slurm and back, as pure functions: Pods to a
// job description, an allocation to the Node of each Pod. How ended Pods become
// the exit status of a job is in end_status.h.
#pragma once

#include "agent/decide/decide.h"
#include "agent/decide/identity.h"
#include "agent/decide/job_requests.h"
#include "agent/gang/gang.h"

#include <string>
#include <vector>

namespace bridge {

// Returns why no job can be requested for this gang as it is, as a message for
// its owner; empty: one can.
std::string unfit_reason(const Gang &gang);

// Returns why a waiting Pod may not have a job, or a task in one, with its
// grace period (gang.grace.allowed), as a message for its owner; empty: it may,
// or does not wait. The second one is about all Pods of the gang.
std::string long_grace_reason(const Gang &gang, const Pod &pod);
std::string long_grace_reason(const Gang &gang);

// Returns why a Pod of the gang cannot have a task in the job of another one
// (of_job), whose requests are asked; empty: it can, if it is small enough.
std::string unfit_to_join_reason(const Gang &gang, const Pod &of_job,
                                 const Wishes &asked, const Pod &pod);

// Returns the job of the gang. One Pod is one task. Tasks have the size of the
// largest Pod, rounded up: a Pod may get more than it requests, never less.
// Requires that unfit_reason() is empty.
JobDescription describe_job(const Gang &gang, const Identity &identity,
                            const Conf &conf);

// The same for running Pods: only on the node where they are, before all other
// jobs, and for the rest of their time.
JobDescription describe_adoption(const Gang &gang, const Identity &identity,
                                 const Conf &conf, const Adopt &adopt,
                                 std::chrono::sys_seconds now);

// Returns the Node of each Pod, in the order of gang.pods. Code::conflict with
// the reason if the allocation does not cover the Pods' requests or names a
// node that Kubernetes does not have.
Result<std::vector<std::string>> place(const Gang &gang, const Job &job,
                                       const NodeMap &nodes);

// Returns what a binding writes on a Pod in addition to its node.
TextMap binding_labels(const Job &job);
// Keeps autoscalers from removing the Node under the Pod, unless the Pod says
// otherwise.
TextMap keep_node_annotations(const Pod &pod);
TextMap binding_annotations(const Job &job, const std::string &slurm_node);
// For a grouped gang.
TextMap binding_annotations(const Job &job, const Seat &seat);

} // namespace bridge
