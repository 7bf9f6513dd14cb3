// SPDX-License-Identifier: GPL-2.0-or-later
// Which gangs are the Pods of batch jobs, and of which. Owner thread only.
#pragma once

#include "agent/gang/batch_mark.h"
#include "agent/gang/store.h"
#include "common/contract/conf.h"

#include <map>
#include <optional>

namespace bridge {

// Only Pods in namespaces for batch jobs are trusted; elsewhere users may have
// written the annotation.
std::optional<BatchMark> mark_of(const Gang &gang, const Conf &conf);

// Returns the tags of batch jobs that have bound a Pod, derived from the Pods.
// The Secret of an unbound Pod may not exist yet.
std::map<JobRef, GangTag> bound_batch_pods(const GangStore &gangs,
                                           const Conf &conf);

} // namespace bridge
