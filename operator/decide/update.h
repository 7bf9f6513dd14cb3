// SPDX-License-Identifier: GPL-2.0-or-later
// How a NodeSet's Pods get a new template: which strategy, and how many of them
// may be away at a time. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/status.h"

#include <cstddef>
#include <string>
#include <vector>

namespace bridge::slinky {

// Whether the Pod counts as available: ready for minReadySeconds.
bool is_available(const NodeSet &set, const Worker &worker, Now now);

// Whether the Pod is of another template than the one with this revision.
bool is_outdated(const Worker &worker, const std::string &revision);

bool is_rolling(const NodeSet &set);

// updateStrategy.rollingUpdate.maxUnavailable as a number of Pods, at least 1:
// 25 % if it says nothing that can be read.
std::size_t most_unavailable(const NodeSet &set, std::size_t wanted);

// Which of the Pods that stay are to be replaced now, of those that are
// outdated. cheapest: the Pods that stay, those first whose end costs least and
// who were asked before. Never so many that more than most_unavailable() are
// away; one that is not available anyway costs nothing, but no more than that
// many are replaced together.
std::vector<const Worker *>
to_update(const NodeSet &set, const std::vector<const Worker *> &cheapest,
          std::size_t wanted, const std::string &revision, Now now);

} // namespace bridge::slinky
