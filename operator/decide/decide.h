// SPDX-License-Identifier: GPL-2.0-or-later
// What the operator does next, from all that it knows. Level-triggered: it does
// not matter what has changed, and the same state leads to the same steps.
// Steps that have become true are not decided again, so that no step means that
// all is as it should be. Pure.
#pragma once

#include "operator/decide/objects.h"
#include "operator/decide/status.h"
#include "operator/decide/step.h"

#include <map>
#include <string>
#include <vector>

namespace bridge::slinky {

// Why a step could not be made the last time, by its what.
using Failures = std::map<std::string, std::string>;

std::vector<Step> decide_node_set(const Known &known, const NodeSet &set,
                                  const Failures &failures, Now now);

std::vector<Step> decide_controller(const Known &known,
                                    const Controller &controller,
                                    const Failures &failures, Now now);

// An Accounting is served; of the others it says that they are not yet.
std::vector<Step> decide_unserved(const Known &known, const Unserved &object,
                                  const Failures &failures, Now now);

} // namespace bridge::slinky
