// SPDX-License-Identifier: GPL-2.0-or-later
// From Kubernetes to Slurm and back, as pure functions: Pods to a job
// description, an allocation to the Node of each Pod, ended Pods to the exit
// status of a job. With decide and act one of the three files where both sides
// meet.
#pragma once

#include "agent/decide/decide.h"
#include "agent/decide/identity.h"
#include "agent/gang/gang.h"

#include <string>
#include <vector>

namespace bridge {

// Why no job can be made of this gang as it stands, in words for its owner;
// empty: nothing is against it.
std::string objection_to(const Gang &gang);

// Why a Pod cannot have a task of the job of this one; empty: it can, if it is
// small enough.
std::string objection_to_joining(const Pod &of_job, const Pod &pod);

// One Pod is one task. Tasks are sized for the largest Pod and rounded up: a
// Pod may get more than it asked for, never less. Only for a gang without
// objection.
JobDescription describe_job(const Gang &gang, const Identity &identity,
                            const Conf &conf);

// The same for Pods that live on a node already: there and nowhere else, before
// everybody, for what is left of their time.
JobDescription describe_adoption(const Gang &gang, const Identity &identity,
                                 const Conf &conf, const Adopt &adopt,
                                 std::chrono::sys_seconds now);

// The Node of each Pod of the gang, in the order of gang.pods. Code::conflict
// with the reason when the allocation does not cover what the Pods ask, or
// names a node that Kubernetes does not have.
Result<std::vector<std::string>> place(const Gang &gang, const Job &job,
                                       const NodeMap &nodes);

// How a gang of which every Pod is terminal ended.
End end_of(const Gang &gang);

// What a binding writes onto a Pod besides its node.
TextMap binding_labels(const Job &job);
TextMap binding_annotations(const Job &job, const std::string &slurm_node);
TextMap binding_annotations(const Job &job, const Seat &seat); // grouped

} // namespace bridge
