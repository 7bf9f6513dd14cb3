// SPDX-License-Identifier: GPL-2.0-or-later
// Pods that no node could ever hold. Slurm would refuse their jobs, without
// saying what is too large, and sacct would show each try as a FAILED job of
// the user; so they get no job while all nodes are too small. What is not known
// here (the nodes of a partition, limits of users) is left to Slurm. Pure.
#pragma once

#include "agent/gang/gang.h"
#include "common/slurm/node_size.h"

#include <string>
#include <vector>

namespace bridge {

// Returns the message for the Pods of the gang: what the first that is too
// large asks for, and what the largest nodes have; empty: each Pod alone fits
// on some node. sizes: those of the nodes that the gang may have; none: they
// are not known.
//
// "No node is large enough for the Pod: it asks for cpu=40, and the largest
// that it may have is kn1 with cpu=16. It waits for a larger node, or can be
// deleted and created again with less."
std::string too_large_message(const Gang &gang,
                              const std::vector<NodeSize> &sizes);

// Whether this is such a message.
bool is_too_large(const std::string &message);

// Whether Slurm's error says that no node could hold the job, or that there are
// no nodes.
bool is_size_error(const std::string &error);

// Returns " The Pod asks for cpu=12, memory=4Gi, gres/gpu=1.", if Slurm has
// refused its job with this error for its size, which it does without saying
// what is too large; else "".
std::string asked_message(const Gang &gang, const std::string &error);

// Returns " It needs gres/gpu=9, and the most on a node is 8 (kn1).", for a
// gang whose devices no node has; empty: some node has as many.
std::string most_devices_message(const Gang &gang,
                                 const std::vector<NodeSize> &sizes);

} // namespace bridge
